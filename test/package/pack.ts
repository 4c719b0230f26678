import { cpSync, existsSync, mkdirSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type {} from 'vitest';
import type { TestProject } from 'vitest/node';
import { run } from './command.js';
import { NODE_MODULES, ROOT } from './repository.js';

declare module 'vitest' {
  interface ProvidedContext {
    packed: Packed;
  }
}

export interface Packed {
  /** The tarball that would be published. */
  readonly tarball: string;
  /** The directory with the same files, unpacked. */
  readonly dir: string;
}

const SOURCES = ['package.json', 'tsconfig.json', 'tsconfig.build.json', 'scripts', 'lib', 'docs'];
const TEXTS = ['README.md', 'CHANGELOG.md', 'LICENSE'];

/**
 * Packs a copy of the sources that has no dist, like a fresh clone: the published files must be built on the way. The
 * copy also keeps the dist intact that other tests may be running from.
 */
export default async function setup(project: TestProject): Promise<() => void> {
  const dir = mkdtempSync(join(tmpdir(), 'package-'));
  const clone = join(dir, 'clone');
  for (const path of [...SOURCES, ...TEXTS].filter((name) => existsSync(join(ROOT, name)))) {
    cpSync(join(ROOT, path), join(clone, path), { recursive: true });
  }
  symlinkSync(NODE_MODULES, join(clone, 'node_modules'));
  const [packed] = JSON.parse(await run(clone, 'npm', 'pack', '--json', '--silent')) as [{ filename: string }];
  const tarball = join(clone, packed.filename);
  mkdirSync(join(dir, 'unpacked'));
  await run(dir, 'tar', '-xzf', tarball, '-C', 'unpacked');
  project.provide('packed', { tarball, dir: join(dir, 'unpacked', 'package') });
  return () => rmSync(dir, { recursive: true });
}
