import { AsyncLocalStorage } from 'node:async_hooks';
import { describe, expect, it, vi } from 'vitest';
import { deferred } from '../../../lib/async/deferred.js';
import { LockLostError, LockReentrancyError } from '../../../lib/contract/errors.js';
import type { Lease } from '../../../lib/contract/lease.js';
import { assertHeld, currentLease } from '../../../lib/service/hold-scope.js';
import { startLocks } from './locks.js';

describe.each([true, false])('a downgrade from writing to reading, with localLine %s', (localLine) => {
  function prices() {
    const { locks, backend } = startLocks({ localLine });
    // Calls in a context that holds nothing, as another request does.
    const elsewhere = AsyncLocalStorage.snapshot();
    const { read, write } = locks.readWriteLock('prices');
    return {
      locks,
      backend,
      read,
      write,
      othersRead: () => elsewhere(() => read.tryAcquire()),
      othersWrite: () => elsewhere(() => write.tryAcquire()),
      waitToWrite: () => elsewhere(() => write.acquire()),
    };
  }

  it('keeps the key for the reader after an early release: others may read, none may write', async () => {
    const { read, write, othersRead, othersWrite, backend } = prices();
    await write.using(async (writer) => {
      await read.using(async (reader) => {
        expect(await othersRead()).toBeNull();
        await writer.release();
        expect([writer.state, writer.isHeld(), writer.mode]).toEqual(['released', false, 'write']);
        expect([reader.state, reader.isHeld(), reader.mode]).toEqual(['held', true, 'read']);
        expect(reader.fencingToken).toBe(writer.fencingToken);
        expect(currentLease()).toBe(reader);
        expect(assertHeld()).toBe(reader);
        const other = await othersRead();
        expect(other?.isHeld()).toBe(true);
        expect(await othersWrite()).toBeNull();
        await other?.release();
        expect(await othersWrite()).toBeNull();
      });
      expect(currentLease()).toBeUndefined();
      const next = await othersWrite();
      expect(next!.fencingToken).toBeGreaterThan(writer.fencingToken);
      await next?.release();
    });
    expect(backend.busyKeys).toEqual([]);
  });

  it('is final: the remaining reader is refused a write lease at once', async () => {
    const { locks, read, write } = prices();
    await write.using((writer) =>
      read.using(async () => {
        await write.using(() => {});
        await writer.release();
        await read.using(() => {});
        for (const upgrade of [() => write.using(() => {}), () => locks.using('prices', () => {})]) {
          await expect(upgrade()).rejects.toBeInstanceOf(LockReentrancyError);
        }
      }),
    );
  });

  it('happens when the writer’s work ends before the reader’s', async () => {
    const { read, write, othersRead, othersWrite, backend } = prices();
    const mayEnd = deferred();
    let reading: Promise<void> | undefined;
    await write.using(async () => {
      const isReading = deferred();
      reading = read.using(() => (isReading.resolve(), mayEnd.promise));
      await isReading.promise;
    });
    const other = await othersRead();
    expect(other?.isHeld()).toBe(true);
    await other?.release();
    expect(await othersWrite()).toBeNull();
    mayEnd.resolve();
    await reading;
    expect(backend.busyKeys).toEqual([]);
  });

  it.each(['acquire', 'tryAcquire'] as const)('grants a lease to continue reading with: %s', async (verb) => {
    const { read, write, othersRead, othersWrite, waitToWrite, backend } = prices();
    let token = 0n;
    const reading = await write.using((writer) => ((token = writer.fencingToken), read[verb]()));
    expect(reading).toMatchObject({ state: 'held', mode: 'read', fencingToken: token });
    const other = await othersRead();
    expect(other?.isHeld()).toBe(true);
    await other?.release();
    expect(await othersWrite()).toBeNull();
    const writing = waitToWrite();
    await reading?.release();
    expect([reading?.state, reading?.isHeld()]).toEqual(['released', false]);
    await (await writing).release();
    await reading?.release();
    expect(backend.busyKeys).toEqual([]);
  });

  it('grants no read lease when a downgrade is not possible', async () => {
    const { locks, read, write } = prices();
    const refused = (lease: Promise<Lease | null>) => expect(lease).rejects.toBeInstanceOf(LockReentrancyError);
    await write.using(async () => {
      await refused(write.acquire());
      await refused(read.acquire({ reentrant: false }));
      await expect(read.acquire({ signal: AbortSignal.abort('mine') })).rejects.toBe('mine');
    });
    await read.using(() => refused(read.acquire()));
    await locks.using('prices', () => refused(read.acquire()));
  });

  it('reports a loss to the reader, and not to the writer that has released', async () => {
    const { read, write, backend } = prices();
    const lost = new LockLostError('prices', 'test');
    const told = write.using(async (writer) => {
      const reading = read.using(async (reader) => {
        await writer.release();
        backend.leaseOn('prices')?.lose(lost);
        expect([reader.state, reader.signal.reason]).toEqual(['lost', lost]);
      });
      await expect(reading).rejects.toBe(lost);
      expect(writer.state).toBe('released');
      return 'told';
    });
    expect(await told).toBe('told');
    expect(backend.busyKeys).toEqual([]);
  });

  it('gives a lost read lease back by itself', async () => {
    const { read, write, backend } = prices();
    const reading = await write.using(() => read.acquire());
    backend.leaseOn('prices')?.lose(new LockLostError('prices', 'test'));
    await new Promise((resolve) => setImmediate(resolve));
    expect([reading.state, backend.busyKeys]).toEqual(['lost', []]);
  });

  it('gives a read lease back by itself after a revocation and a loss', async () => {
    const { locks, read, write, backend } = prices();
    const reading = await write.using(() => read.acquire());
    await locks.revoke('prices', { graceMs: 1 });
    await new Promise((resolve) => setImmediate(resolve));
    expect([reading.state, backend.busyKeys]).toEqual(['lost', []]);
    const drained = vi.fn<() => void>();
    void locks.onApplicationShutdown().then(drained);
    await vi.waitFor(() => expect(drained).toHaveBeenCalled(), 30_000);
  });

  it('frees the key when no reader is left', async () => {
    const { write, othersWrite } = prices();
    await write.using(async (writer) => {
      await writer.release();
      expect(writer.state).toBe('released');
      const next = await othersWrite();
      expect(next?.isHeld()).toBe(true);
      await next?.release();
    });
  });

  it('ends a nested write lease when the outer one is released, readers or not', async () => {
    const { read, write, othersWrite } = prices();
    await write.using((writer) =>
      write.using((inner) =>
        read.using(async (reader) => {
          await writer.release();
          expect([inner.isHeld(), reader.isHeld()]).toEqual([false, false]);
          const next = await othersWrite();
          expect(next?.isHeld()).toBe(true);
          await next?.release();
        }),
      ),
    );
  });
});
