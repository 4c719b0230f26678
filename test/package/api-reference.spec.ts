import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { run } from './command.js';
import { ROOT } from './repository.js';

const CONFIG = pathToFileURL(join(ROOT, 'scripts/api/typedoc.config.mjs')).href;
const KINDS = ['classes', 'functions', 'interfaces', 'types', 'variables'];

const folder = mkdtempSync(join(tmpdir(), 'api-reference-'));
afterAll(() => rmSync(folder, { recursive: true }));

/** Runs `npm run docs:api`. @throws Error with all that it said, unless it had no warning */
const build = (...args: string[]) => run(ROOT, 'npm', 'run', 'docs:api', '--', ...args);

/** The entries of package.json, each with its source. */
function entries(): { readonly name: string; readonly source: string }[] {
  const { name, exports } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as {
    name: string;
    exports: Record<string, string | { readonly import: { readonly default: string } }>;
  };
  return Object.entries(exports).flatMap(([path, target]) =>
    typeof target === 'string'
      ? []
      : [
          {
            name: name + path.slice(1),
            source: target.import.default.replace(/^\.\/dist\/(.*)\.js$/, 'lib/$1.ts'),
          },
        ],
  );
}

/** The names that a source of an entry exports, types included. It consists of nothing but exports by name. */
function exportsOf(source: string): string[] {
  const text = source.replaceAll(/\/\*[^]*?\*\/|\/\/.*/g, '');
  const names = [...text.matchAll(/export (?:type )?\{([^}]*)\} from '[^']+';/g)].map(([, list = '']) => list);
  expect(text.replaceAll(/export (?:type )?\{[^}]*\} from '[^']+';/g, '').trim()).toBe('');
  return names.flatMap((list) => list.split(',').map((one) => one.trim())).filter(Boolean);
}

describe('the API reference', () => {
  const pages = new Map<string, string>();

  beforeAll(async () => {
    await build('--out', join(folder, 'api'));
    const files = readdirSync(join(folder, 'api'), { recursive: true, encoding: 'utf8' });
    for (const file of files.filter((path) => path.endsWith('.html'))) {
      pages.set(file, readFileSync(join(folder, 'api', file), 'utf8'));
    }
  });

  it.each(entries())('has a page for $name, and for everything that it exports', ({ name, source }) => {
    const place = name.replaceAll('/', '_');
    const exported = exportsOf(readFileSync(join(ROOT, source), 'utf8'));
    // The smallest entry has a function, its options and their parts.
    expect(exported.length).toBeGreaterThan(2);
    expect(pages.has(`modules/${place}.html`)).toBe(true);
    const hasPage = (one: string) => KINDS.some((kind) => pages.has(`${kind}/${place}.${one}.html`));
    // An export of two entries has its page with one of them, and a link on the front page of the other.
    const isLinked = (one: string) => pages.get(`modules/${place}.html`)?.includes(`.${one}.html"`);
    expect(exported.filter((one) => !hasPage(one) && !isLinked(one))).toEqual([]);
  });

  it('has every page of docs, and no link that leads nowhere', () => {
    const documents = readdirSync(join(ROOT, 'docs'), { recursive: true, encoding: 'utf8' })
      .filter((path) => path.endsWith('.md'))
      .map((path) => `documents/docs_${path.slice(0, -3).replaceAll('/', '_')}.html`);
    expect(documents).toContain('documents/docs_guarantees.html');
    expect(documents.filter((page) => !pages.has(page))).toEqual([]);
    const links = [...pages].flatMap(([page, html]) => linksOf(page, html));
    expect(links.length).toBeGreaterThan(1_000);
    expect(links.filter(({ file, anchor }) => !leads(file, anchor))).toEqual([]);
  });

  it('a link that leads nowhere would be found', () => {
    const html = '<a href="../index.html">1</a> <a href="none.html">2</a> <a href="#none">3</a>';
    const dead = linksOf('modules/nestjs-distributed-lock.html', html).filter((link) => !leads(link.file, link.anchor));
    expect(dead).toEqual([
      { page: 'modules/nestjs-distributed-lock.html', file: 'modules/none.html', anchor: '' },
      { page: 'modules/nestjs-distributed-lock.html', file: 'modules/nestjs-distributed-lock.html', anchor: 'none' },
    ]);
  });

  function leads(file: string, anchor: string): boolean {
    const html = pages.get(file);
    if (html === undefined) return existsSync(join(folder, 'api', file));
    return anchor === '' || html.includes(` id="${anchor}"`);
  }
});

/** The links of a page to the reference itself. */
function linksOf(page: string, html: string): { page: string; file: string; anchor: string }[] {
  const targets = [...html.matchAll(/\s(?:href|src)="(?!\w+:)([^"]+)"/g)].map(([, target = '']) => target);
  return targets.map((target) => {
    const [path = '', anchor = ''] = target.replaceAll('&amp;', '&').split('#');
    const file = path === '' ? page : join(dirname(page), decodeURIComponent(path));
    return { page, file, anchor: decodeURIComponent(anchor) };
  });
}

describe('the build of the API reference', () => {
  const GOOD = `
    /** The size of a box. */
    export interface Size {
      /** The width in metres. */
      readonly width: number;
    }
    /** Returns the width of a {@link Size}. */
    export function widthOf(size: Size): number { return size.width; }`;

  it('finds a link to a page that does not exist', async () => {
    const planted = `${GOOD}
      /** See [a page](../docs/nowhere.md). */
      export const LINKED = 1;`;
    expect(await complaintsOf('page', planted)).toMatch(/relative path \S*docs\/nowhere\.md is not a file/);
  });

  it('finds a broken link, a type that is not exported, and exports and members without a docstring', async () => {
    const planted = `${GOOD}
      /** See {@link Nowhere}. */
      export const LINKED = 1;
      /** A type that only this file knows. */
      interface Hidden { readonly a: number; }
      /** Returns what applications cannot name. */
      export function hidden(): Hidden { return { a: 1 }; }
      export function undocumented(): void {}
      /** A class with a method. */
      export class Documented { undocumentedMethod(): void {} }`;
    const said = await complaintsOf('planted', planted);
    expect(said).toMatch(/Failed to resolve link to "Nowhere"/);
    expect(said).toMatch(/Hidden, defined in \S+, is referenced by \S*hidden but not included/);
    expect(said).toMatch(/\bundocumented \(CallSignature\), defined in \S+, does not have any documentation/);
    expect(said).toMatch(/undocumentedMethod \(CallSignature\), defined in \S+, does not have any documentation/);
    expect(said).toContain('Found 0 errors and 4 warnings');
  });
});

/** The complaints of the build about one source, with the options of the package. Empty when it succeeds. */
async function complaintsOf(name: string, source: string): Promise<string> {
  const dir = join(folder, name);
  mkdirSync(dir);
  const compilerOptions = { strict: true, target: 'ES2023', types: [], rootDir: '.' };
  const own = { entryPoints: [join(dir, 'index.ts')], tsconfig: join(dir, 'tsconfig.json'), out: join(dir, 'api') };
  const none = { readme: 'none', projectDocuments: [], intentionallyNotExported: [], emit: 'none' };
  // References to types of other packages are not checked.
  writeFileSync(join(dir, 'package.json'), JSON.stringify({ name, version: '1.0.0' }));
  writeFileSync(join(dir, 'index.ts'), source);
  writeFileSync(join(dir, 'tsconfig.json'), JSON.stringify({ compilerOptions, files: ['index.ts'] }));
  writeFileSync(
    join(dir, 'typedoc.config.mjs'),
    `import config from '${CONFIG}';\nexport default { ...config, ...${JSON.stringify({ ...own, ...none })} };\n`,
  );
  return build('--options', join(dir, 'typedoc.config.mjs')).then(
    () => '',
    (error: Error) => error.message,
  );
}
