import { cpSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import type { etcd } from '../../../lib/etcd/index.js';
import { applyEdits } from '../../support/edit.js';
import type { Edit } from '../../support/edit.js';
import { ROOT } from '../../support/repository-root.js';

const BUILD = join(ROOT, 'build');
/** The folders of the library that the backend consists of. */
const FOLDERS = ['async', 'contract', 'sessions', 'etcd'];

/**
 * Returns the backend of a copy of the library in which the edits are made. The copy is removed when the test ends.
 * @throws Error when a file does not contain what is to be replaced
 */
export async function planted(edits: readonly Edit[]): Promise<typeof etcd> {
  mkdirSync(BUILD, { recursive: true });
  const copy = mkdtempSync(join(BUILD, 'etcd-defect-'));
  onTestFinished(() => rmSync(copy, { recursive: true }));
  for (const folder of FOLDERS) cpSync(join(ROOT, 'lib', folder), join(copy, folder), { recursive: true });
  applyEdits(edits, copy);
  return ((await import(join(copy, 'etcd/index.ts'))) as { etcd: typeof etcd }).etcd;
}
