import { beforeEach, expect, it } from 'vitest';
import { RareLines } from '../../../lib/service/rare-lines.js';

let lines: string[];
let time: number;
const log = (line: string) => void lines.push(line);

beforeEach(() => {
  lines = [];
  time = 1_000;
});

it('logs one line a minute about a subject, and how many were left out', () => {
  const rare = new RareLines(() => time);
  for (let second = 0; second < 121; second++) {
    for (const subject of ['a', 'b']) rare.tell(subject, `${subject} at ${second} s`, log);
    time += 1_000;
  }
  expect(lines.filter((line) => line.startsWith('a'))).toEqual([
    'a at 0 s',
    'a at 60 s (59 more since the last line about it)',
    'a at 120 s (59 more since the last line about it)',
  ]);
  expect(lines).toHaveLength(6);
});

it('says nothing about others where none were left out', () => {
  const rare = new RareLines(() => time);
  rare.tell('a', 'first', log);
  time += 60_000;
  rare.tell('a', 'second', log);
  expect(lines).toEqual(['first', 'second']);
});

it('forgets subjects when there are too many', () => {
  const rare = new RareLines(() => time);
  for (let id = 0; id < 5_000; id++) rare.tell(`label ${id}`, 'x', log);
  rare.tell('label 0', 'again', log);
  rare.tell('label 4999', 'known', log);
  expect(lines).toHaveLength(5_001);
});
