import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, inject, it } from 'vitest';

const { dir } = inject('packed');
const files = readdirSync(dir, { recursive: true, encoding: 'utf8' });
const read = (path: string) => readFileSync(join(dir, path), 'utf8');

it('holds what is exported, the sources and the texts, and nothing else', () => {
  const places = new Set(files.map((path) => path.split('/')[0]));
  expect(
    [...places].filter((place) => !/^(dist|lib|docs|package\.json|README\.md|CHANGELOG\.md|LICENSE)$/.test(place!)),
  ).toEqual([]);
  expect(files).toEqual(
    expect.arrayContaining(['LICENSE', 'dist/index.js', 'dist/index.d.ts', 'dist/testing/index.js']),
  );
});

it('has a module and its types for every source', () => {
  const sources = files.filter((path) => /^lib\/.*(?<!\.d)\.ts$/.test(path));
  expect(sources.length).toBeGreaterThan(50);
  const built = sources.map((path) => path.replace(/^lib\/(.*)\.ts$/, 'dist/$1'));
  expect(built.flatMap((path) => [`${path}.js`, `${path}.d.ts`]).filter((path) => !files.includes(path))).toEqual([]);
});

it('has maps that lead to sources that are there', () => {
  const maps = files.filter((path) => path.endsWith('.map'));
  expect(maps.length).toBeGreaterThan(100);
  const targets = maps.flatMap((map) => {
    const { sources } = JSON.parse(read(map)) as { sources: string[] };
    return sources.map((source) => join(dir, dirname(map), source));
  });
  expect(targets.filter((target) => !existsSync(target))).toEqual([]);
});

it('declares nothing that is for the inside only', () => {
  const declarations = files.filter((path) => path.endsWith('.d.ts'));
  expect(declarations.filter((path) => read(path).includes('@internal'))).toEqual([]);
});

it('is one build, of ES modules: with a second one a LockService would be two classes', () => {
  const { type, exports } = JSON.parse(read('package.json')) as {
    type: string;
    exports: Record<string, object | string>;
  };
  expect(type).toBe('module');
  expect(Object.values(exports).filter((one) => typeof one === 'object' && 'require' in one)).toEqual([]);
});

it('pins the driver that it hardens from outside', () => {
  const { dependencies } = JSON.parse(read('package.json')) as { dependencies: Record<string, string> };
  expect(dependencies).toEqual({ 'node-zookeeper-client': '1.1.3' });
});
