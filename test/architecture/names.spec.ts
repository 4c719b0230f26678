import { readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { filesBelow, ROOT } from './repository.js';

/** Texts that belong to one machine or to the network of one company. */
const OF_ONE_MACHINE: readonly (readonly [what: string, pattern: RegExp])[] = [
  ['a registry host', /\bregistry[.-][\w.-]+\.\w+|\bnpm\.pkg\.github\.com|\b(verdaccio|artifactory)\b/i],
  ['an absolute path of a machine', /(?<![\w.-])\/(home|Users|root|work)\/[\w.-]+|[A-Z]:\\Users\\/],
  ['an address in a private network', /\b(10\.\d+|192\.168|172\.(1[6-9]|2\d|3[01]))\.\d+\.\d+\b/],
];

/** Words in a file name that say nothing about the file. */
const EMPTY_WORD = /(^|[-._]|(?<=[a-z]))(managers?|helpers?|impl|utils?|Managers?|Helpers?|Impl|Utils?)(?=[-._]|$)/;

const TEXTS = ['lib', 'docs', 'sample-app', 'scripts', '.ci', 'README.md', 'CHANGELOG.md', 'package.json', '.npmrc'];
const LOCKS = ['', 'test/nest-11/', 'test/transactions/', 'bench/'].map((folder) => `${folder}package-lock.json`);

const complaintsAbout = (text: string) =>
  OF_ONE_MACHINE.filter(([, pattern]) => pattern.test(text)).map(([what]) => what);
const read = (path: string) => readFileSync(join(ROOT, path), 'utf8');
const isEmptyName = (path: string) => EMPTY_WORD.test(basename(path));

describe('texts', () => {
  it('name no registry host and no path or address of a machine', () => {
    const files = [...TEXTS, ...LOCKS].flatMap(filesBelow);
    expect(files.length).toBeGreaterThan(60);
    const found = files.flatMap((path) => complaintsAbout(read(path)).map((what) => `${path}: ${what}`));
    expect(found).toEqual([]);
  });

  it.each([
    // The URLs are assembled here, so that this file contains none.
    `https://${['registry', 'npmjs', 'org'].join('.')}/rxjs`,
    `${['registry-1', 'docker', 'io'].join('.')}/library/zookeeper`,
    'see /home/me/project',
    'cd "/Users/me"',
    'file:///root/x',
    `see ${['', 'work', 'repository', 'lib'].join('/')}`,
    'C:\\Users\\me',
    'http://10.1.2.3:4873/',
  ])('are found out with %s', (text) => {
    expect(complaintsAbout(text)).toHaveLength(1);
  });

  it.each(['/usr/share/java/zookeeper.jar', '127.0.0.1:2181', 'zk1:2181/app', 'the registry', 'https://a.io/home/x'])(
    'may contain %s',
    (text) => {
      expect(complaintsAbout(text)).toEqual([]);
    },
  );
});

describe.each(LOCKS)('%s', (path) => {
  it('pins contents by integrity hashes, without download locations', () => {
    const { packages } = JSON.parse(read(path)) as {
      packages: Record<string, { integrity?: string; resolved?: string }>;
    };
    const [, ...installed] = Object.values(packages);
    expect(installed.length).toBeGreaterThan(50);
    expect(installed.filter((one) => one.resolved !== undefined || one.integrity === undefined)).toEqual([]);
  });
});

describe('file names', () => {
  it('say what a file is about', () => {
    const files = ['lib', 'sample-app', 'test', 'scripts', 'bench'].flatMap(filesBelow);
    expect(files.filter(isEmptyName)).toEqual([]);
  });

  it.each([
    'lock-manager.ts',
    'LockManager.ts',
    'helper.ts',
    'test-helpers.ts',
    'lock.impl.ts',
    'LockImpl.ts',
    'utils.ts',
  ])('are found out: %s', (name) => {
    expect(isEmptyName(name)).toBe(true);
  });

  it.each(['implicit.ts', 'managed.ts', 'lock.service.ts', 'futile.ts'])('may be %s', (name) => {
    expect(isEmptyName(name)).toBe(false);
  });
});
