import { describe, expect, it, onTestFinished } from 'vitest';
import type { LockTimeoutError } from '../../../lib/contract/errors.js';
import type { Lock } from '../../../lib/contract/lock.js';
import { LockService } from '../../../lib/service/lock.service.js';
import type { LockServiceOptions } from '../../../lib/service/lock-service.options.js';
import { OthersBackend } from './others.backend.js';

const WAIT_MS = 80;

function start(options: Partial<LockServiceOptions> = {}) {
  const backend = new OthersBackend();
  const locks = new LockService(backend, {
    connectionName: 'default',
    service: 'test',
    waitMs: WAIT_MS,
    drainTimeoutMs: 0,
    connectOnStart: 'required',
    ...options,
  });
  onTestFinished(() => backend.close());
  return { backend, locks };
}

/** The error of an acquisition that fails. */
const refused = (lock: Pick<Lock, 'acquire'>, options?: Parameters<Lock['acquire']>[0]): Promise<LockTimeoutError> =>
  lock.acquire(options).then(
    () => expect.unreachable('it was granted'),
    (error: LockTimeoutError) => error,
  );

const labels = ({ holders }: LockTimeoutError) => holders.map(({ owner }) => owner.label);

describe('a timeout behind another process', () => {
  it('names the holder, its host and since when it holds', async () => {
    const { backend, locks } = start();
    await backend.other('k', 'Report.run');
    const error = await refused(locks.mutex('k'));
    expect(error.code).toBe('LOCK_TIMEOUT');
    expect(error.holders).toMatchObject([
      { state: 'held', mode: 'exclusive', owner: { label: 'Report.run', host: 'elsewhere', pid: 7 }, isOwn: false },
    ]);
    expect(error.message).toMatch(
      /^"k" is locked by Report\.run \(host elsewhere, pid 7\) since \d{4}-.*Z \(waited 80 ms\)$/,
    );
  });

  it('names a writer to a reader, and readers to a writer', async () => {
    const { backend, locks } = start();
    await backend.other('w', 'writer', { mode: 'write' });
    await backend.other('r', 'reader 1', { mode: 'read' });
    await backend.other('r', 'reader 2', { mode: 'read' });
    const [read, write] = await Promise.all([
      refused(locks.readWriteLock('w').read),
      refused(locks.readWriteLock('r').write),
    ]);
    expect(labels(read)).toEqual(['writer']);
    expect(labels(write)).toEqual(['reader 1', 'reader 2']);
    expect(write.message).toMatch(/reader 1 \(host elsewhere, pid 7, reads\) since/);
  });

  it('names the holders of permits, and no others', async () => {
    const { backend, locks } = start();
    await backend.other('pool', 'mutex');
    await backend.other('pool', 'pair', { mode: 'permit', permits: { count: 2, of: { permits: 2 } } });
    const error = await refused(locks.semaphore('pool', { permits: 2 }));
    expect(labels(error)).toEqual(['pair']);
    expect(error.message).toMatch(/pair \(host elsewhere, pid 7, 2 permits\)/);
  });

  it('names the holder of the unavailable key of a set, in order and atomic', async () => {
    const { backend, locks } = start();
    await backend.other('b', 'holder of b');
    const keys = ['a', 'b'];
    // So long that a busy machine has asked for the second key before the wait ends.
    const options = { waitMs: 1_000 };
    const inOrder = await refused(locks.multi(keys), options);
    const atomic = await refused(locks.multi(keys, { atomic: true }), options);
    expect([inOrder.key, ...labels(inOrder)]).toEqual(['b', 'holder of b']);
    expect([atomic.key, ...labels(atomic)]).toEqual(['a, b', 'holder of b']);
  });

  it('names the holder of the awaited segment, and of all segments', async () => {
    const { backend, locks } = start();
    await backend.other('stock/#0000', 'clerk');
    const stock = locks.segmented('stock', { segments: 1 });
    expect(labels(await refused(stock))).toEqual(['clerk']);
    const all = await stock.withAll(() => {}).catch((error: LockTimeoutError) => error);
    expect(labels(all as LockTimeoutError)).toEqual(['clerk']);
  });

  it('is still null for the caller of tryAcquire', async () => {
    const { backend, locks } = start();
    await backend.other('k', 'holder');
    expect(await locks.mutex('k').tryAcquire({ waitMs: WAIT_MS })).toBeNull();
  });
});

describe('a timeout behind a caller of the same process', () => {
  it('names the holder without a request to the backend', async () => {
    const { backend, locks } = start();
    await locks.acquire('k', { label: 'Orders.place' });
    const error = await refused(locks.mutex('k'));
    expect(error.holders).toMatchObject([{ owner: { label: 'Orders.place', pid: process.pid }, isOwn: true }]);
    expect(error.message).toMatch(/^"k" is locked by Orders\.place \(this process\) since /);
    expect(backend.questions).toEqual([]);
  });

  it('names the holder at once when the caller does not wait', async () => {
    const { backend, locks } = start();
    await locks.acquire('k', { label: 'Orders.place' });
    expect(labels(await refused(locks.mutex('k'), { waitMs: 0 }))).toEqual(['Orders.place']);
    expect(backend.questions).toEqual([]);
  });

  it('names the holder between the branches of one call', async () => {
    const { locks } = start();
    let end = () => {};
    await locks.using(
      'k',
      async () => {
        const first = locks.using('k', () => new Promise<void>((resolve) => (end = resolve)));
        const second = locks.using('k', () => {}, { waitMs: WAIT_MS });
        const error: LockTimeoutError = await second.then(
          () => expect.unreachable(),
          (reason: LockTimeoutError) => reason,
        );
        expect(labels(error)).toEqual(['outer']);
        end();
        await first;
      },
      { label: 'outer' },
    );
  });

  it('names own readers and those of other processes', async () => {
    const { backend, locks } = start();
    const { read, write } = locks.readWriteLock('k');
    await read.acquire({ label: 'own reader' });
    await backend.other('k', 'reader elsewhere', { mode: 'read' });
    expect(labels(await refused(write))).toEqual(['own reader', 'reader elsewhere']);
  });

  it('names the holder in strict order, where the backend knows it', async () => {
    const { locks } = start({ localLine: false });
    await locks.acquire('k', { label: 'Orders.place' });
    expect((await refused(locks.mutex('k'))).message).toMatch(/Orders\.place \(this process\)/);
  });
});

describe('the request for holders', () => {
  it('is repeated when the last one was not answered', async () => {
    const { backend, locks } = start();
    await backend.other('k', 'holder');
    backend.answer = () => new Promise(() => {});
    await refused(locks.mutex('k'));
    backend.answer = undefined;
    const isNamed = async () => labels(await refused(locks.mutex('k'))).length;
    await expect.poll(isNamed).toBe(1);
  });

  it('is not sent for granted waits, nor for callers that do not wait', async () => {
    const { backend, locks } = start({ waitMs: 60_000 });
    const holder = await backend.other('k', 'holder');
    const waits = Array.from({ length: 100 }, () => locks.using('k', () => {}));
    expect((await refused(locks.mutex('k'), { waitMs: 0 })).holders).toEqual([]);
    await holder.release();
    await Promise.all(waits);
    expect(backend.questions).toEqual([]);
  });

  it('is sent a few times for 10,000 timeouts, one at a time', async () => {
    const { backend, locks } = start();
    await backend.other('k', 'holder');
    const begun = performance.now();
    const waits = Array.from({ length: 10_000 }, (_, at) => refused(locks.mutex('k'), { waitMs: 400 + (at % 200) }));
    const errors = await Promise.all(waits);
    const tookMs = performance.now() - begun;
    expect(backend.mostPending).toBe(1);
    expect(backend.questions.length).toBeLessThanOrEqual(1 + tookMs / 100);
    expect(errors.some((error) => labels(error)[0] === 'holder')).toBe(true);
  });

  it('is sent for a limited number of keys at a time; other waits get no answer', async () => {
    const { backend, locks } = start();
    const keys = Array.from({ length: 200 }, (_, at) => `k${at}`);
    for (const key of keys) await backend.other(key, 'holder');
    backend.answer = () => new Promise(() => {});
    const errors = await Promise.all(keys.map((key) => refused(locks.mutex(key))));
    expect(backend.mostPending).toBe(32);
    expect(errors.every(({ holders }) => holders.length === 0)).toBe(true);
  });

  it.each<[string, () => Promise<never>]>([
    ['is never answered', () => new Promise(() => {})],
    ['is refused', () => Promise.reject(new Error('no server answers'))],
    [
      'throws',
      () => {
        throw new Error('broken');
      },
    ],
  ])('changes nothing when it %s', async (_, answer) => {
    const { backend, locks } = start();
    await backend.other('k', 'holder');
    backend.answer = answer;
    const error = await refused(locks.mutex('k'));
    expect(error.message).toBe('"k" is locked by somebody else (waited 80 ms)');
    expect(backend.questions).toHaveLength(1);
  });

  it('is not sent while no server is connected', async () => {
    const { backend, locks } = start();
    await backend.other('k', 'holder');
    backend.isConnected = false;
    await refused(locks.mutex('k'));
    expect(backend.questions).toEqual([]);
  });

  it('is aborted when there is no answer', async () => {
    const { backend, locks } = start();
    await backend.other('k', 'holder');
    backend.answer = ({ signal }) =>
      new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
    await refused(locks.mutex('k'));
    await expect.poll(() => backend.pending).toBe(0);
  });
});

describe('a holder of this process outside the local queue', () => {
  it.each([
    ['an atomic set', (locks: LockService) => locks.multi(['k', 'l'], { atomic: true })],
    ['a mutex without one', (locks: LockService) => locks.mutex('k', { localLine: false })],
  ] as const)('is named: %s', async (_what, lockOf) => {
    const { locks } = start();
    await lockOf(locks).acquire({ label: 'Report.run' });
    const error = await refused(locks.mutex('k'), { waitMs: 400 });
    expect(labels(error)).toEqual(['Report.run']);
    expect(error.message).toContain('Report.run (this process)');
  });
});
