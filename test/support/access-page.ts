import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, onTestFinished } from 'vitest';
import type { LockBackend, LockBackendDefinition } from '../../lib/contract/lock-backend.js';
import { requestFor } from '../redis/support/clients.js';
import { ROOT } from './repository-root.js';

const run = promisify(execFile);
const EXAMPLES = 'test/examples/access/backends.ts';
/** The folder of the certificates on the page. */
const FOLDER = '/etc/locks';

const read = (path: string) => readFileSync(join(ROOT, path), 'utf8');

/** The page with the examples of access and encryption. */
export const PAGE = read('docs/operations.md');

/** The page with one text in the place of another. @throws Error if it does not have that text */
export function altered(from: string, to: string): string {
  if (!PAGE.includes(from)) throw new Error(`the page has no "${from}"`);
  return PAGE.replace(from, to);
}

/** Returns a block of code: the first, or a later one, after the bold words of a paragraph. */
export function blockAfter(page: string, title: string, later = 0): string {
  const [, rest] = page.split(`\n**${title}`);
  const blocks = [...(rest ?? '').matchAll(/^```(?:sh|ini|conf)\n([^]*?)^```$/gm)];
  const [, block] = blocks[later] ?? [];
  if (block === undefined) throw new Error(`the page has no block after "${title}"`);
  return block;
}

/** Makes the certificates as the page shows it. Returns their folder, which is removed when the test ends. */
export async function certificatesOf(page: string): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'access-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  await run('sh', ['-euc', blockAfter(page, 'Certificates')], { cwd: folder });
  return folder;
}

/** A block with the folder of the test, written to a file of it. */
export async function fileOf(block: string, folder: string, name: string): Promise<string> {
  const path = join(folder, name);
  await writeFile(path, block.replaceAll(FOLDER, folder));
  return path;
}

/** The settings of a block of `name=value` lines. */
export function settingsOf(block: string, folder: string): Record<string, string> {
  const lines = block.replaceAll(FOLDER, folder).trim().split('\n');
  return Object.fromEntries(lines.map((line) => line.split(/=(.*)/).slice(0, 2) as [string, string]));
}

/** The functions of the application as the page shows them. @throws Error if the page shows others */
export async function examplesOf(page: string) {
  const [, shown] = page.split(`<!-- ${EXAMPLES} -->\n\n\`\`\`ts\n`);
  const [code] = (shown ?? '').split('```\n');
  if (code !== read(EXAMPLES)) throw new Error('the page shows other code for the application');
  return import('../examples/access/backends.js');
}

/** Opens a client, which is closed when the test ends. */
export function opened(definition: LockBackendDefinition): LockBackend {
  const backend = definition.create();
  onTestFinished(() => backend.close());
  return backend;
}

/** Two clients of a service exclude each other. */
export async function lockWith(definition: LockBackendDefinition): Promise<void> {
  const [one, other] = [opened(definition), opened(definition)];
  const lease = await one.acquire(requestFor('orders/42'));
  expect(lease?.isHeld()).toBe(true);
  expect(await other.acquire(requestFor('orders/42', { wait: false }))).toBeNull();
  await lease?.release();
  const next = await other.acquire(requestFor('orders/42'));
  expect(next?.isHeld()).toBe(true);
  await next?.release();
}

/** The client is refused, at the latest when it wants a key. */
export async function refused(definition: LockBackendDefinition, code: string): Promise<void> {
  await expect(opened(definition).acquire(requestFor('orders/43'))).rejects.toMatchObject({ code });
}
