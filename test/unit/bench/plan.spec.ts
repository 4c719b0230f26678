import { describe, expect, it } from 'vitest';
import { planOf } from '../../../bench/conduct/plan.js';
import { timesOf } from '../../../bench/conduct/turn-times.js';
import { turnsOf } from '../../../bench/conduct/turns.js';
import type { Turn } from '../../../bench/conduct/turns.js';
import { parseOptions } from '../../../bench/options.js';
import { CLAIMS } from '../../../bench/report/claims.js';

const PROCESSORS = 2;
const MINUTE = 60_000;

const planned = (...args: string[]) => {
  const options = parseOptions(args);
  const turns = turnsOf(options);
  return { options, turns, plan: planOf(turns, options, PROCESSORS) };
};
const lengthOf = (...args: string[]) => planned(...args).plan.reduce((sum, ms) => sum + ms, 0);

describe('the planned length of a run on two processors', () => {
  it('is at most 28 minutes for everything', () => {
    expect(lengthOf()).toBeLessThanOrEqual(28 * MINUTE);
  });

  it('is at most three minutes with --quick', () => {
    expect(lengthOf('--quick')).toBeLessThanOrEqual(3 * MINUTE);
  });

  it('grows with each round and each second', () => {
    const [one, two, three] = ['1', '2', '3'].map((rounds) => lengthOf('--shape', '1x1', '--rounds', rounds));
    expect(two! - one!).toBeGreaterThan(0);
    expect(three! - two!).toBeCloseTo(two! - one!);
    const more = lengthOf('--shape', '1x1', '--seconds', '2') - lengthOf('--shape', '1x1', '--seconds', '1');
    expect(more).toBeCloseTo(1_000 * planned('--shape', '1x1').turns.length);
  });
});

describe('a full run', () => {
  const { turns } = planned();
  const roundsOf = (shape: string, contender: string) =>
    turns.filter((turn) => turn.shape.id === shape && turn.contender.id === contender).length;

  it.each(CLAIMS)('measures the goal of $contender in $shape ($figure) in three rounds', (claim) => {
    expect(roundsOf(claim.shape, claim.contender)).toBeGreaterThanOrEqual(3);
    if (claim.against) expect(roundsOf(claim.shape, claim.against)).toBeGreaterThanOrEqual(3);
  });
});

describe('the plan of a turn', () => {
  it('has the start of the server and of processes, and their break-in, once', () => {
    const { plan } = planned('--shape', '4x1', '--contender', 'curator', '--rounds', '3');
    const [first, second, third] = plan;
    expect(first! - second!).toBeGreaterThan(15_000);
    expect(second).toBe(third);
  });

  it('has the break-in of one process when three more join it', () => {
    const alone = planned('--shape', '4x1', '--contender', 'curator').plan[1]!;
    const { turns, plan } = planned('--shape', '1x1', '--shape', '4x1', '--contender', 'curator');
    const joined = plan[turns.findIndex(({ shape }) => shape.id === '4x1')]!;
    expect(joined - alone).toBeGreaterThan(10_000);
  });

  it('keeps the experience of processes while new ones are measured', () => {
    const { turns, plan } = planned(
      '--shape',
      '1x1',
      '--shape',
      'first-ten',
      '--shape',
      '1x1-new',
      '--contender',
      'ours',
    );
    const later = turns.flatMap(({ shape, round }, place) => (shape.id === '1x1-new' && round > 0 ? plan[place]! : []));
    const first = plan[turns.findIndex(({ shape }) => shape.id === '1x1-new')]!;
    expect(first - later[0]!).toBeLessThan(1_000);
  });
});

describe('the times of a turn', () => {
  const options = parseOptions([]);
  const turnOf = (shape: string) => planned('--shape', shape).turns.find(({ contender }) => contender.id === 'ours')!;
  const times = (turn: Turn, workedMs = 1e9) => timesOf(turn, workedMs, options, PROCESSORS);

  it('are the usual ones for one process that is broken in', () => {
    expect(times(turnOf('1x1'))).toEqual({ warmUpMs: 500, windowMs: 1_000 });
  });

  it('give each process the processor time of one', () => {
    expect(times(turnOf('16x1')).warmUpMs).toBe(4_000);
  });

  it('include what is missing of the break-in', () => {
    expect(times(turnOf('1x1'), 3_000).warmUpMs).toBe(7_500);
    expect(times(turnOf('16x1'), 0).warmUpMs).toBe(44_000);
  });

  it('have a longer window without a longer warm-up, and a shorter one with a shorter', () => {
    expect(times(turnOf('etcd-4x16'))).toEqual({ warmUpMs: 1_000, windowMs: 5_000 });
    expect(times(turnOf('kept'))).toEqual({ warmUpMs: 125, windowMs: 250 });
  });

  it('have no break-in in a short run', () => {
    const short = parseOptions(['--short']);
    expect(timesOf(turnOf('16x1'), 0, short, PROCESSORS)).toEqual({ warmUpMs: 20, windowMs: 150 });
  });
});
