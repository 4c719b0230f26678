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

/** The beginnings that a comment, or a line of one, may not have: a pronoun or a question word in place of the noun. */
const RIDDLE = /(?:^|\s)(?:\/\/|\/?\*{1,2}|--)\s+(?:Who|Whom|Whoever|Whose|Those|What|Of|How)\b/;
/** The beginnings that the title of a test may not have, for the same reason. */
const RIDDLE_OF_TITLE = /\b(?:it|test|describe)\(\s*['"`](?:who|whom|whoever|those|what|how)\b/i;

const read = (path: string) => readFileSync(join(ROOT, path), 'utf8');
const sources = filesBelow('lib').filter((path) => path.endsWith('.ts'));
/** Our code, without the violations that this file plants. */
const code = ['lib', 'test', 'scripts', 'bench', 'sample-app']
  .flatMap(filesBelow)
  .filter((path) => /\.(ts|js|mjs|java)$/.test(path) && path !== 'test/architecture/words.spec.ts');

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
  ];
}

function riddlesIn(path: string, text: string): string[] {
  const riddles = text.split('\n').filter((line) => RIDDLE.test(line) || RIDDLE_OF_TITLE.test(line));
  return riddles.map((line) => `${path}: ${line.trim()}`);
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

describe('a comment, and the title of a test,', () => {
  it('begins with its noun', () => {
    expect(code.length).toBeGreaterThan(1_000);
    expect(code.flatMap((path) => riddlesIn(path, read(path)))).toEqual([]);
  });

  it.each([
    '/** Who waits. */',
    '  /** Of each kind. */',
    '/**\n * Those of the others.\n */',
    '/**\n * The queue of a key.\n * Whoever comes first is granted it.\n */',
    '// How long it waits.',
    'const waits = 1; // What it waits for.',
    '-- Whose turn it is.',
    "it('who waits is served', () => {});",
    "describe('What it costs', () => {});",
  ])('is found out: %s', (text) => {
    expect(riddlesIn('a.ts', text)).toHaveLength(1);
  });

  it.each(['/** Whether it is held. */', '// The holder, and how long it holds.', "it('serves what came first', go);"])(
    'may be: %s',
    (text) => {
      expect(riddlesIn('a.ts', text)).toEqual([]);
    },
  );
});
