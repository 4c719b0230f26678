import { describe, expect, it } from 'vitest';
import { CONTENDERS } from '../../../bench/contenders/contenders.js';
import { Experience } from '../../../bench/crew/experience.js';

const [ours, strict, floor, curator] = (['ours', 'ours-strict', 'floor', 'curator'] as const).map((id) =>
  CONTENDERS.get(id)!,
);

describe('the experience of processes', () => {
  it('is that of the least experienced one', () => {
    const experience = new Experience();
    experience.add(ours!, 1, 10);
    experience.add(ours!, 4, 5);
    expect([1, 4, 5].map((processes) => experience.leastMs(ours!, processes))).toEqual([15, 5, 0]);
  });

  it('counts for contenders of the same code only', () => {
    const experience = new Experience();
    experience.add(ours!, 1, 10);
    expect([strict!, floor!, curator!].map((contender) => experience.leastMs(contender, 1))).toEqual([10, 0, 0]);
  });

  it('ends with the processes of the program', () => {
    const experience = new Experience();
    for (const contender of [ours!, curator!]) experience.add(contender, 1, 10);
    experience.forget('node');
    expect([ours!, curator!].map((contender) => experience.leastMs(contender, 1))).toEqual([0, 10]);
  });
});
