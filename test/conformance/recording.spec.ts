import { expect, it } from 'vitest';
import { recordedLines } from './recording.js';

it('a scenario without a recording is not compared', () => {
  const recording = new Map([
    ['played', 'a\nb'],
    ['empty', ''],
  ]);
  expect(recordedLines(recording, 'played')).toEqual(['a', 'b']);
  for (const scenario of ['empty', 'missing']) {
    expect(() => recordedLines(recording, scenario)).toThrow(`"${scenario}" was not recorded`);
  }
});
