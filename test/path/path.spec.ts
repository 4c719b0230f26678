import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { runInNewContext } from 'node:vm';
import { describe, expect, it } from 'vitest';
import { ROOT } from '../support/repository-root.js';
import { countFolders, countPath, filesOfLock, nounsForHold } from './counts.js';
import { measureFigures } from './figures.js';
import { traced } from './traced.js';

/** The present counts in docs/architecture.md, by name. They grow only with a reason. */
function reached(): ReadonlyMap<string, number> {
  const page = readFileSync(join(ROOT, 'docs', 'architecture.md'), 'utf8');
  const rows = page.matchAll(/^\| (?<what>.+?) +\| \d+ +\| (?<now>\d+) +\| \d+ +\|$/gm);
  return new Map([...rows].map(({ groups }) => [groups!['what']!, Number(groups!['now'])]));
}

describe('a traced module', () => {
  const run = (text: string) => {
    const steps: string[] = [];
    const noteStep = (step: string) => void steps.push(step);
    const answer: unknown = runInNewContext(`${traced(text, 'a/b.js')}; JSON.stringify(answer)`, { noteStep });
    return { steps, answer };
  };

  it('behaves as before, and records each function that is entered', () => {
    const text = `
      function outer(n) { return [n].map((one) => one + 1).map((one) => ({ one })); }
      const arrow = (n) => outer(n);
      class Base { constructor(n) { this.n = n; } }
      class Some extends Base {
        field = () => this.n;
        constructor(n) { super(n); }
        get twice() { return 2 * this.n; }
        static make(n) { return new Some(n); }
      }
      const answer = [arrow(1)[0].one, Some.make(4).twice, Some.make(5).field()];`;
    const { steps, answer } = run(text);
    expect(answer).toBe('[2,8,5]');
    expect([...new Set(steps)]).toEqual([
      'a/b.js:arrow',
      'a/b.js:outer',
      'a/b.js:2',
      'a/b.js:Some.make',
      'a/b.js:Some.constructor',
      'a/b.js:Base.constructor',
      'a/b.js:Some.twice',
      'a/b.js:Some.field',
    ]);
  });

  it('records no function that is not entered', () => {
    expect(run('function never() {} const answer = 1;')).toEqual({ steps: [], answer: '1' });
  });
});

describe('the counts of a path', () => {
  const steps = [
    'service/a.js:one',
    'service/a.js:7',
    'service/b.js:two',
    'async/c.js:three',
    'service/a.js:one',
    'local/d.js:four',
  ];

  it('cover files, named functions, and changes between functions that are new', () => {
    const counts = countPath({ steps, hopsToMethod: 3 });
    expect(counts).toEqual({ files: 4, functions: 4, fileChanges: 3, layerChanges: 2, hops: 3 });
  });

  it('are told for each folder, in the order of the call', () => {
    expect(countFolders({ steps, hopsToMethod: 0 })).toEqual([
      { folder: 'service', files: 2, functions: 2 },
      { folder: 'async', files: 1, functions: 1 },
      { folder: 'local', files: 1, functions: 1 },
    ]);
  });

  it('include the files that implement the lock', () => {
    expect(filesOfLock({ steps, hopsToMethod: 0 })).toEqual(['local/d.js', 'service/a.js', 'service/b.js']);
  });

  it('find the nouns for a hold in the sources', () => {
    expect(nounsForHold(join(ROOT, 'lib'))).toEqual(expect.arrayContaining(['Contender', 'GrantedLease']));
    expect(nounsForHold(join(ROOT, 'lib', 'async'))).toEqual([]);
  });
});

it('a contended call passes no more than the documentation says', async () => {
  const { figures } = await measureFigures();
  const now = reached();
  expect([...now.keys()]).toEqual(figures.map(({ what }) => what));
  expect(figures.filter(({ what, count }) => count > now.get(what)!)).toEqual([]);
  // A call that is not traced has a count of 0.
  expect(figures.filter(({ count }) => count === 0)).toEqual([]);
});
