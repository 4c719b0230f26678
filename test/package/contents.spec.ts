import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { expect, inject, it } from 'vitest';

const { dir } = inject('packed');
const files = readdirSync(dir, { recursive: true, encoding: 'utf8' }).filter((path) =>
  statSync(join(dir, path)).isFile(),
);
const read = (path: string) => readFileSync(join(dir, path), 'utf8');
const code = files.filter((path) => path.startsWith('dist/cjs/code/'));
const declarations = files.filter((path) => path.endsWith('.d.ts'));

const MOST_FILES = 600;
const MOST_BYTES = 2_600_000;

it('contains the exported code and the documentation, and nothing else', () => {
  const places = new Set(files.map((path) => path.split('/')[0]));
  expect(places).toEqual(new Set(['CHANGELOG.md', 'LICENSE', 'README.md', 'dist', 'docs', 'package.json']));
  expect(files.filter((path) => path.endsWith('.map'))).toEqual([]);
});

it('is small', () => {
  const bytes = files.map((path) => statSync(join(dir, path)).size).reduce((sum, size) => sum + size, 0);
  expect(files.length).toBeLessThanOrEqual(MOST_FILES);
  expect(bytes).toBeLessThanOrEqual(MOST_BYTES);
});

it('contains every file that package.json names', () => {
  const named = [...read('package.json').matchAll(/"((?:\.\/)?dist\/[^"]+)"/g)].map(([, path = '']) => normalize(path));
  expect(named.length).toBeGreaterThan(8);
  expect(named.filter((path) => !files.includes(path))).toEqual([]);
});

it('contains the page of locks, with every module that it loads', () => {
  const page = (name: string) => `dist/cjs/code/dashboard/page/${name}`;
  expect(files).toEqual(expect.arrayContaining(['main.js', 'page.css', 'icon.svg'].map(page)));
  const modules = files.filter((path) => path.startsWith(page('')) && path.endsWith('.js'));
  const loaded = modules.flatMap((path) =>
    [...read(path).matchAll(/from '\.\/([^']+)'/g)].map(([, name = '']) => name),
  );
  expect(loaded.length).toBeGreaterThan(10);
  expect(loaded.filter((name) => !modules.includes(page(name)))).toEqual([]);
});

const isPicture = (path: string) => path.startsWith('docs/images/');

it('contains no pictures', () => {
  expect(files.filter(isPicture)).toEqual([]);
});

it('links only to files that it contains', () => {
  const pages = files.filter((path) => path.endsWith('.md'));
  const dead = pages.flatMap((page) => {
    const targets = [...read(page).matchAll(/\]\((?!\w+:|#)([^)\s#]+)/g)].map(([, target = '']) => target);
    // Pictures are in the repository only: nobody looks at them in node_modules.
    const files = targets.map((target) => join(dirname(page), target)).filter((path) => !isPicture(path));
    return files.filter((path) => !existsSync(join(dir, path)));
  });
  expect(pages.length).toBeGreaterThan(20);
  expect(dead).toEqual([]);
});

it('declares nothing internal, and documents what is public', () => {
  expect(declarations.filter((path) => read(path).includes('@internal'))).toEqual([]);
  for (const path of declarations.filter((one) => one.includes('cjs/'))) expect(read(path)).toContain('/**');
});

/** Returns each interface of a declaration file with its fields. */
function interfacesOf(text: string): { readonly name: string; readonly fields: string }[] {
  const found = text.split(/^(?=(?:export )?(?:declare )?interface )/m).slice(1);
  return found.map((one) => ({ name: /interface (\w+)/.exec(one)![1]!, fields: one.slice(0, one.search(/^\}/m)) }));
}

it('accepts undefined for every optional option, as `exactOptionalPropertyTypes` requires', () => {
  const options = declarations
    .flatMap((path) => interfacesOf(read(path)))
    .filter(({ name }) => /(?:Options|Extras)$/.test(name));
  const strict = options.flatMap(({ name, fields }) =>
    [...fields.matchAll(/^ {2}(?:readonly )?(\w+)\?: ([^;]+);/gm)]
      .filter(([, , type = '']) => !/\b(?:undefined|never)\b/.test(type))
      .map(([, field = '']) => `${name}.${field}`),
  );
  expect(options.length).toBeGreaterThan(40);
  expect(strict).toEqual([]);
});

it('keeps test code out of the code of the main entry', () => {
  const locks = read('dist/cjs/code/locks.js');
  expect(locks).toContain('// build/package/lock.module.js');
  expect(locks).not.toContain('// build/package/testing/');
});

it('keeps class names, which errors and injection tokens depend on', () => {
  for (const path of code) {
    // The bundler adds a number to classes with the same name, and restores the original name with `__name`.
    for (const [, number, body = ''] of read(path).matchAll(/^var \w+(\$\d+)? = (class[^]{0,120})/gm)) {
      expect(body.includes('__name(this, "')).toBe(number !== undefined);
    }
    expect(read(path)).not.toMatch(/class \w+\$\d/);
  }
});

it('keeps short lines, which stack traces refer to', () => {
  for (const path of code) {
    const lines = read(path).split('\n');
    expect(lines.filter((line) => line.length > 1_000).map((line) => line.slice(0, 80))).toEqual([]);
  }
});

it('contains the code once: the imported modules only re-export it', () => {
  const others = files.filter((path) => path.startsWith('dist/') && path.endsWith('.js') && !code.includes(path));
  expect(others.filter((path) => statSync(join(dir, path)).size > 10_000)).toEqual([]);
});

it('pins the driver that it patches', () => {
  const { dependencies } = JSON.parse(read('package.json')) as { dependencies: Record<string, string> };
  expect(dependencies).toEqual({ 'node-zookeeper-client': '1.1.3' });
});
