import 'reflect-metadata';
import { describe, expect, it } from 'vitest';
import { CALLED } from './called.mistakes.js';
import { COMPILED } from './compiled.mistakes.js';
import { CONNECTED } from './connected.mistakes.js';
import { LOADED } from './loaded.mistakes.js';
import { inOneLine, patternOf, printedOnPage } from './mistake.js';
import { STARTED } from './started.mistakes.js';

const TABLES = { COMPILED, LOADED, STARTED, CONNECTED, CALLED };

const NAMES = Object.values(TABLES).flatMap((mistakes) => Object.keys(mistakes));

describe.each(Object.entries(TABLES))('docs/troubleshooting.md shows what is printed: %s', (_when, mistakes) => {
  const page = printedOnPage();

  it.each(Object.entries(mistakes))('%s', async (name, make) => {
    expect(inOneLine(await make())).toMatch(patternOf(page.get(name) ?? '(not on the page)'));
  });
});

it('docs/troubleshooting.md contains every mistake once, and no other', () => {
  expect([...printedOnPage().keys()].toSorted()).toEqual(NAMES.toSorted());
});

it('a page with a different text is detected', () => {
  const page = printedOnPage('<!-- a -->\n\n```text\none\n  … three\n```\n\n```text\nof nothing\n```\n');
  expect([...page]).toEqual([['a', 'one … three']]);
  const pattern = patternOf('one … (three)');
  expect('one two (three)').toMatch(pattern);
  expect('one two three').not.toMatch(pattern);
  expect('and one two (three)').not.toMatch(pattern);
});
