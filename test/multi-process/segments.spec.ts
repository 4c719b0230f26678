import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, inject, it, onTestFinished } from 'vitest';
import { upTo } from '../../lib/composite/segment-route.js';
import { freshBasePath } from '../support/base-path.js';
import { openService } from '../support/services.js';
import { startWorker } from './start-worker.js';

const connectString = inject('zookeeper');
const PROCESSES = 3;
const COUPONS = 300;

/** The coupons that three processes sell, of 300 in four segments. One of them changes the number of segments meanwhile. */
async function soldBy(isLocked: boolean): Promise<number> {
  const directory = await mkdtemp(join(tmpdir(), 'coupons-'));
  onTestFinished(() => rm(directory, { recursive: true }));
  await Promise.all(upTo(4).map((segment) => writeFile(join(directory, String(segment)), String(COUPONS / 4))));
  const basePath = freshBasePath();
  const orders = { connectString, basePath, directory, isLocked };
  const workers = upTo(PROCESSES).map((place) =>
    startWorker('seller', { ...orders, changes: isLocked && place === 0 ? [8, 3, 16] : [] }),
  );
  await Promise.all(workers.map((worker) => worker.next()));
  const said = await Promise.all(workers.map((worker) => worker.ask({})));
  return said.reduce((sum, { sold }) => sum + Number(sold), 0);
}

describe('coupons in segments, sold by three processes while the number of segments changes', () => {
  it('are all sold, once each', async () => {
    expect(await soldBy(true)).toBe(COUPONS);
  });

  it('are oversold under a planted broken lock, so the test above can fail', async () => {
    expect(await soldBy(false)).not.toBe(COUPONS);
  });
});

describe('a process that dies while it changes the number of segments', () => {
  const resizerAtWork = async () => {
    const basePath = freshBasePath();
    const service = await openService({ connectString, basePath, waitMs: 30_000 });
    const coupons = service.segmented('coupons', { segments: 4 });
    // All that this side has to do first. The resizer then stays at work, also on a busy machine.
    expect(await coupons.count()).toBe(4);
    const resizer = startWorker('resizer', { connectString, basePath, sessionTimeoutMs: 3_000 });
    expect(await resizer.next()).toEqual({ from: 4, to: 8 });
    return { resizer, coupons };
  };

  it('leaves the old number, and other processes continue with it', async () => {
    const { resizer, coupons } = await resizerAtWork();
    expect(await coupons.tryAcquire()).toBeNull();
    resizer.signal('SIGKILL');
    expect(await coupons.using(({ segments }) => segments)).toBe(4);
    await coupons.resize(8, ({ from }) => expect(from).toBe(4));
    expect(await coupons.count()).toBe(8);
  });

  it('cannot complete the change when it was only stopped and resumes', async () => {
    const { resizer, coupons } = await resizerAtWork();
    resizer.signal('SIGSTOP');
    const lease = await coupons.acquire();
    const said = resizer.ask({});
    resizer.signal('SIGCONT');
    expect(await said).toEqual({ refused: expect.stringContaining('LockLostError') });
    expect([await coupons.count(), lease.segments, lease.isHeld()]).toEqual([4, 4, true]);
  });
});
