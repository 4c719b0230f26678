import { AsyncLocalStorage } from 'node:async_hooks';
import { describe, expect, it, vi } from 'vitest';
import { deferred } from '../../../lib/async/deferred.js';
import { LockLostError, LockReentrancyError } from '../../../lib/contract/errors.js';
import type { Lease } from '../../../lib/contract/lease.js';
import { assertHeld, currentLease } from '../../../lib/service/held-leases.js';
import { startLocks } from './locks.js';

describe.each([true, false])('from writing to reading, with localLine %s', (localLine) => {
  function prices() {
    const { locks, backend } = startLocks({ localLine });
    // Calls in a context that holds nothing, as from another request.
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

  it('a lease given back early stays the reader’s: others read, nobody writes', async () => {
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

  it('cannot be gone back: who reads on is refused to write, at once', async () => {
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

  it('is the way of work that reads on after the writer has ended', async () => {
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

  it.each(['acquire', 'tryAcquire'] as const)('hands out a lease to read on with: %s', async (verb) => {
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

  it('hands out no such lease where there is no way down', async () => {
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

  it('tells the reader when the lease is lost, and not the writer that had given it back', async () => {
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

  it('gives back by itself what was handed out and is lost', async () => {
    const { read, write, backend } = prices();
    const reading = await write.using(() => read.acquire());
    backend.leaseOn('prices')?.lose(new LockLostError('prices', 'test'));
    await new Promise((resolve) => setImmediate(resolve));
    expect([reading.state, backend.busyKeys]).toEqual(['lost', []]);
  });

  it('gives back by itself what was handed out, revoked, and then lost', async () => {
    const { locks, read, write, backend } = prices();
    const reading = await write.using(() => read.acquire());
    await locks.revoke('prices', { graceMs: 1 });
    await new Promise((resolve) => setImmediate(resolve));
    expect([reading.state, backend.busyKeys]).toEqual(['lost', []]);
    const drained = vi.fn<() => void>();
    void locks.onApplicationShutdown().then(drained);
    await vi.waitFor(() => expect(drained).toHaveBeenCalled(), 30_000);
  });

  it('frees the key when nobody reads on', async () => {
    const { write, othersWrite } = prices();
    await write.using(async (writer) => {
      await writer.release();
      expect(writer.state).toBe('released');
      const next = await othersWrite();
      expect(next?.isHeld()).toBe(true);
      await next?.release();
    });
  });

  it('ends what is written inside when the lease is given back, readers or not', async () => {
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
