import { existsSync, readFileSync } from 'node:fs';
import { dirname, join, normalize, posix } from 'node:path';
import { describe, expect, it } from 'vitest';
import { filesBelow, ROOT } from './repository.js';

const read = (path: string) => readFileSync(join(ROOT, path), 'utf8');
const isThere = (path: string) => existsSync(join(ROOT, path));

/** The page without its code blocks, in which brackets and hashes have other meanings. */
const prose = (page: string) => page.replaceAll(/^```[^]*?^```$/gm, '');

/** The anchor of a heading, as links name it. */
function anchorOf(heading: string): string {
  const text = heading.replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1').replaceAll(/[`*]/g, '');
  return text
    .toLowerCase()
    .replaceAll(/[^\w\- ]/g, '')
    .replaceAll(' ', '-');
}

function anchorsOf(page: string): ReadonlySet<string> {
  return new Set([...prose(page).matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) => anchorOf(heading)));
}

/** The link targets of a page that do not exist. */
function deadLinks(path: string, page: string): string[] {
  // Links that leave the repository are not checked.
  const targets = [...prose(page).matchAll(/\]\((?!\w+:)([^)\s]+)\)/g)].map(([, target = '']) => target);
  return targets.filter((target) => {
    const [file = '', anchor] = target.split('#');
    const place = file === '' ? path : normalize(join(dirname(path), file));
    if (!isThere(place)) return true;
    return anchor !== undefined && !anchorsOf(place === path ? page : read(place)).has(anchor);
  });
}

const { scripts } = JSON.parse(read('package.json')) as { scripts: Record<string, string> };

function unknownScripts(page: string): string[] {
  return [...page.matchAll(/npm run ([\w:-]+)/g)].map(([, name = '']) => name).filter((name) => !(name in scripts));
}

/** The files of this repository that a page names in code and that do not exist. */
function missingFiles(page: string): string[] {
  const named = page.matchAll(/`((?:lib|test|docs|bench|scripts|sample-app)\/[\w./-]+)`/g);
  return [...named].map(([, path = '']) => path).filter((path) => !isThere(path));
}

const PAGES = [
  'README.md',
  'CHANGELOG.md',
  'CONTRIBUTING.md',
  'docs',
  'sample-app',
  'test/robustness/README.md',
  'test/simulation/README.md',
]
  .flatMap((place) => (place.endsWith('.md') ? [place] : filesBelow(place)))
  .filter((path) => path.endsWith('.md'));

describe.each(PAGES)('%s', (path) => {
  const page = read(path);

  it('links to existing pages and headings', () => expect(deadLinks(path, page)).toEqual([]));

  it('names existing commands and files', () => {
    expect(unknownScripts(page)).toEqual([]);
    expect(missingFiles(page)).toEqual([]);
  });
});

/** Pages of docs that an index does not link to. A link to the index of a folder is one to all its pages. */
function notIn(index: string, pages: readonly string[]): string[] {
  const targets = [...prose(index).matchAll(/\]\(([^)#\s]+)/g)].map(([, target = '']) => posix.join('docs', target));
  const folders = targets.filter((to) => to.endsWith('/README.md')).map((to) => to.slice(0, -'README.md'.length));
  return pages.filter((page) => !targets.includes(page) && !folders.some((folder) => page.startsWith(folder)));
}

it('docs/README.md links to every page of docs', () => {
  const pages = PAGES.filter((path) => path.startsWith('docs/') && path !== 'docs/README.md');
  expect(pages.length).toBeGreaterThan(40);
  expect(notIn(read('docs/README.md'), pages)).toEqual([]);
  expect(notIn('[1](a.md#b) [2](adr/README.md)', ['docs/a.md', 'docs/b.md', 'docs/adr/0001.md'])).toEqual([
    'docs/b.md',
  ]);
});

it('a page with dead links is found out', () => {
  const page =
    '# A `lock`, held\n\n[1](README.md#quick-start) [2](#a-lock-held) [3](#other) [4](docs/none.md)\n`npm run nothing`, `lib/none.ts`';
  expect(deadLinks('README.md', page)).toEqual(['README.md#quick-start', '#other', 'docs/none.md']);
  expect(deadLinks('CHANGELOG.md', page)).toEqual(['#other', 'docs/none.md']);
  expect(unknownScripts(page)).toEqual(['nothing']);
  expect(missingFiles(page)).toEqual(['lib/none.ts']);
});
