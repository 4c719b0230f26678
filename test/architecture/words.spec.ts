import { readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { filesBelow, ROOT } from './repository.js';

/**
 * Words that were replaced, with the word that docs/glossary.md has instead. They may not be a part of any name or
 * sentence in lib.
 */
const REPLACED: Readonly<Record<string, string>> = {
  lineup: 'WaitQueueSnapshot',
  succession: 'SequenceFastPath',
  successions: 'SequenceFastPath',
  entrance: 'FastPathEntry',
  departure: 'DeletionWatch',
  departures: 'DeletionWatch',
  tenure: 'SharedLease or ReentrantHold',
  tenures: 'SharedLease or ReentrantHold',
  roster: 'LinkedList',
  crew: 'JobContext',
  verdict: 'TickStatus',
  shelves: 'StockSnapshot',
};

/** Names of types that were replaced. As words they mean something else. */
const REPLACED_TYPES: readonly string[] = [
  'Standing',
  'Admission',
  'Frame',
  'Stay',
  'Stretch',
  'Rest',
  'Till',
  'Office',
  'Places',
];

/** The beginnings that a comment may not have: a pronoun or a question word in place of the noun. */
const RIDDLE = /\/\*\*\s+(?:\* )?(Who|Whom|Whoever|Whose|Those|What|Of|How)\b/;

const read = (path: string) => readFileSync(join(ROOT, path), 'utf8');
const sources = filesBelow('lib').filter((path) => path.endsWith('.ts'));

function wordsOf(text: string): string[] {
  return [...text.matchAll(/[A-Z]?[a-z]+|[A-Z]+(?![a-z])/g)].map(([word]) => word.toLowerCase());
}

function complaintsAbout(path: string, text: string): string[] {
  const replaced = new Set([...wordsOf(basename(path)), ...wordsOf(text)]);
  const words = Object.keys(REPLACED).filter((word) => replaced.has(word));
  const types = REPLACED_TYPES.filter((type) => new RegExp(`\\b(class|interface|type) ${type}\\b`).test(text));
  return [
    ...words.map((word) => `${path} says "${word}": say ${REPLACED[word]}`),
    ...types.map((type) => `${path} has a type "${type}"`),
    ...(/\b[Cc]an not\b/.test(text) ? [`${path} says "can not"`] : []),
    ...text
      .split('\n')
      .filter((line) => RIDDLE.test(line))
      .map((line) => `${path}: ${line.trim()}`),
  ];
}

describe('the words of the library', () => {
  it('are those of the glossary', () => {
    expect(sources.length).toBeGreaterThan(200);
    expect(sources.flatMap((path) => complaintsAbout(path, read(path)))).toEqual([]);
  });

  it.each([
    ['lineup.ts', '', 'lineup'],
    ['a.ts', 'const lineupOfKey = 1;', 'lineup'],
    ['a.ts', '// As in its tenure.', 'tenure'],
    ['a.ts', 'export class Standing {}', 'type "Standing"'],
    ['a.ts', '// This can not be.', 'can not'],
    ['a.ts', '/** Who waits. */', 'Who waits'],
    ['a.ts', '  /** Of each kind. */', 'Of each kind'],
  ])('are found out: %s with %s', (path, text, complaint) => {
    expect(complaintsAbout(path, text)).toEqual([expect.stringContaining(complaint)]);
  });

  it.each([
    '/** The standing order. */ const isOffline = officeHours;',
    '/** Whether it is held. */',
    'const cannot = 1;',
  ])('may be used: %s', (text) => {
    expect(complaintsAbout('a.ts', text)).toEqual([]);
  });
});
