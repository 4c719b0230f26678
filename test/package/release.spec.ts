import { cpSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, inject, it, onTestFinished } from 'vitest';
import { run } from './command.js';
import { ROOT } from './repository.js';

const { dir } = inject('packed');

/** The release scripts, beside a package.json that they may change. */
function release(): { readonly dir: string; readonly node: (script: string, ...args: string[]) => Promise<string> } {
  const copy = mkdtempSync(join(tmpdir(), 'release-'));
  onTestFinished(() => rmSync(copy, { recursive: true }));
  for (const path of ['package.json', 'scripts']) cpSync(join(ROOT, path), join(copy, path), { recursive: true });
  return { dir: copy, node: (script, ...args) => run(copy, process.execPath, `scripts/${script}.mjs`, ...args) };
}

const manifestIn = (folder: string) => JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as object;

it('is published only with a repository address, which one command fills in', async () => {
  const { dir, node } = release();
  await node('home', 'https://host.invalid/team/locks');
  await expect(node('check-release')).resolves.toBe('');
  expect(manifestIn(dir)).toMatchObject({
    repository: { type: 'git', url: 'git+https://host.invalid/team/locks.git' },
    homepage: 'https://host.invalid/team/locks#readme',
    bugs: { url: 'https://host.invalid/team/locks/issues' },
  });
});

it('is refused with the placeholder, and with addresses that differ', async () => {
  const { dir, node } = release();
  await expect(node('home', 'https://example.invalid/locks')).rejects.toThrow('is the placeholder');
  await expect(node('home', 'host.invalid/locks')).rejects.toThrow('git+https://<host>/<path>.git');
  await node('home', 'https://host.invalid/team/locks');
  await run(dir, 'npm', 'pkg', 'set', 'homepage=https://elsewhere.invalid');
  await expect(node('check-release')).rejects.toThrow('homepage must be https://host.invalid/team/locks#readme');
});

it('has a package.json that npm does not correct', async () => {
  const copy = mkdtempSync(join(tmpdir(), 'manifest-'));
  onTestFinished(() => rmSync(copy, { recursive: true }));
  cpSync(dir, copy, { recursive: true });
  await run(copy, 'npm', 'pkg', 'fix');
  expect(manifestIn(copy)).toEqual(manifestIn(dir));
});
