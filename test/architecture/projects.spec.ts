import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { isAlone } from '../alone.js';
import projects from '../projects.json' with { type: 'json' };
import { filesBelow, ROOT } from './repository.js';

const RUNS = ['test', 'long'];
const ALL = Object.entries(projects);
const isLong = (path: string) => path.endsWith('.long.spec.ts');
const isIn = (path: string, place: string) => path === place || path.startsWith(`${place}/`);

/** The spec files of a project. */
const specsOf = ({ run, places, ...kind }: (typeof projects)[keyof typeof projects]) =>
  filesBelow('test').filter(
    (path) =>
      path.endsWith('.spec.ts') &&
      isLong(path) === (run === 'long') &&
      places.some((place) => isIn(path, place)) &&
      isAlone(path) === 'alone' in kind,
  );

describe('the test projects', () => {
  it('run every spec file', () => {
    const specs = filesBelow('test').filter((path) => /\.(spec|test)\.[cm]?tsx?$/.test(path));
    const run = new Set(ALL.flatMap(([, project]) => specsOf(project)));
    expect(specs.filter((path) => !run.has(path))).toEqual([]);
  });

  it.each(ALL)('belong to one run each: %s', (name, { run }) => {
    expect(RUNS).toContain(run);
    // A project of the long run has a name that ends with -long.
    expect(name.endsWith('-long')).toBe(run === 'long');
  });

  it('have unique names, since a later one would hide the earlier', () => {
    const text = readFileSync(join(ROOT, 'test/projects.json'), 'utf8');
    const names = [...text.matchAll(/^ {2}"([^"]+)":/gm)].map(([, name]) => name);
    expect(names).toEqual(Object.keys(projects));
  });

  it.each(ALL)('have at least one spec file: %s', (_name, project) => {
    expect(specsOf(project)).not.toEqual([]);
  });

  it.each(ALL)('have existing folders: %s', (_name, { places }) => {
    expect(places.filter((place) => !existsSync(join(ROOT, place)))).toEqual([]);
  });

  it.each(ALL)('are in the table of docs/testing.md: %s', (name, { run }) => {
    const [, table = ''] = readFileSync(join(ROOT, 'docs/testing.md'), 'utf8').split('## The tests of this package');
    const command = run === 'long' ? 'npm run test:long' : 'npm test';
    const rows = table.split('\n').map((line) => line.split('|').map((cell) => cell.trim()));
    const runs = rows.filter(([, project]) => project === `\`${name}\``).map(([, , run]) => run);
    expect(runs).toEqual([`\`${command}\``]);
  });

  it('leave no spec file outside test', () => {
    expect(['lib', 'scripts', 'sample-app'].flatMap(filesBelow).filter((path) => /\.(spec|test)\./.test(path))).toEqual(
      [],
    );
  });
});
