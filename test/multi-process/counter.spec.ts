import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, inject, it, onTestFinished } from 'vitest';
import { freshBasePath } from '../support/base-path.js';
import { startWorker } from './start-worker.js';

const PROCESSES = 4;
const INCREMENTS = 75;

/** The number in the file after each of four processes has incremented it 75 times. */
async function countedBy(isLocked: boolean): Promise<number> {
  const directory = await mkdtemp(join(tmpdir(), 'counter-'));
  onTestFinished(() => rm(directory, { recursive: true }));
  const file = join(directory, 'count');
  await writeFile(file, '0');
  const orders = {
    connectString: inject('zookeeper'),
    basePath: freshBasePath(),
    file,
    increments: INCREMENTS,
    isLocked,
  };
  const workers = Array.from({ length: PROCESSES }, () => startWorker('counter', orders));
  await Promise.all(workers.map((worker) => worker.succeeded()));
  return Number(await readFile(file, 'utf8'));
}

describe('an unprotected counter in a file, shared by four processes', () => {
  it('is right under the lock', async () => {
    expect(await countedBy(true)).toBe(PROCESSES * INCREMENTS);
  });

  it('is wrong under a planted broken lock, so the test above can fail', async () => {
    expect(await countedBy(false)).toBeLessThan(PROCESSES * INCREMENTS);
  });
});
