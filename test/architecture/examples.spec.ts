import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { filesBelow, ROOT } from './repository.js';

const EXAMPLES = 'test/examples';
const DOCS = ['README.md', 'docs/getting-started.md', 'docs/operations.md', 'docs/testing.md', 'docs/zookeeper.md'];

const read = (path: string) => readFileSync(join(ROOT, path), 'utf8');

/** The test files that a page shows, each with the code that the page shows of it. */
function shownIn(page: string): ReadonlyMap<string, string> {
  const blocks = page.matchAll(/^<!-- (test\/\S+) -->\n+```ts\n([^]*?)^```$/gm);
  return new Map([...blocks].map(([, path = '', code = '']) => [path, code]));
}

describe(`the examples of ${DOCS.join(', ')}`, () => {
  // A file may be on several pages: each of them is compared.
  const shown = DOCS.flatMap((page) => [...shownIn(read(page))].map(([path, code]) => ({ page, path, code })));

  it('are the files that are run, letter by letter', () => {
    for (const { page, path, code } of shown) expect(code, `${path} on ${page}`).toBe(read(path));
  });

  it('are complete', () => {
    expect([...new Set(shown.map(({ path }) => path))].sort()).toEqual(filesBelow(EXAMPLES).sort());
  });
});

describe('the examples of docs/transactions.md', () => {
  const shown = shownIn(read('docs/transactions.md'));

  it('are parts of the files that are run, letter by letter', () => {
    for (const [path, code] of shown) expect(read(path), path).toContain(code);
  });

  it('are from all files with a locked method', () => {
    const files = filesBelow('test/transactions').filter((path) => read(path).includes('@DistributedLock('));
    expect([...shown.keys()].sort()).toEqual(files.filter((path) => !path.endsWith('.spec.ts')).sort());
  });
});

it('code without the name of a test file is not an example', () => {
  const page = '<!-- test/examples/a.ts -->\n\n```ts\nconst a = 1;\n```\n\n```ts\nconst other = 2;\n```\n';
  expect([...shownIn(page)]).toEqual([['test/examples/a.ts', 'const a = 1;\n']]);
});
