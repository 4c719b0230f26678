import { getEventListeners } from 'node:events';
import { describe, expect, it } from 'vitest';
import { LockShutdownError } from '../../../lib/contract/errors.js';
import type { GrantedLease } from '../../../lib/contract/granted-lease.js';
import type { LockRequest } from '../../../lib/contract/lock-request.js';
import { fencingTokenOf } from '../../../lib/contract/granted-lease.js';
import { memory, MemoryBackend } from '../../../lib/memory/memory.backend.js';

const request = (changes: Partial<LockRequest> = {}): LockRequest => ({
  key: 'orders/42',
  mode: 'exclusive',
  line: 'fifo',
  wait: true,
  signal: new AbortController().signal,
  ...changes,
});

async function hold(backend: MemoryBackend, changes: Partial<LockRequest> = {}): Promise<GrantedLease> {
  const lease = await backend.acquire(request(changes));
  if (!lease) throw new Error('somebody else holds the key');
  return lease;
}

/** Asks for a lease, and logs when it is granted. */
function ask(backend: MemoryBackend, log: string[], name: string, changes: Partial<LockRequest> = {}) {
  const asked = hold(backend, changes);
  asked.then(
    () => log.push(name),
    () => {},
  );
  return asked;
}

const settle = () => new Promise(setImmediate);

describe('memory()', () => {
  it('makes a separate backend for every application', async () => {
    const definition = memory();
    const [one, other] = [definition.create(), definition.create()];
    await one.acquire(request());
    await expect(other.acquire(request({ wait: false }))).resolves.not.toBeNull();
    expect([definition.name, one.name, one.state]).toEqual(['memory', 'memory', 'connected']);
  });

  it('connects at once, and identifies keys by their text', async () => {
    const backend = memory().create();
    await expect(backend.connect()).resolves.toBeUndefined();
    expect(backend.identify('orders/42')).toBe('orders/42');
  });
});

describe('an exclusive key', () => {
  it('is granted to one caller at a time, first come first served', async () => {
    const backend = new MemoryBackend();
    const log: string[] = [];
    const [first, second, third] = ['first', 'second', 'third'].map((name) => ask(backend, log, name));
    await settle();
    expect(log).toEqual(['first']);
    await (await first)?.release();
    await settle();
    expect(log).toEqual(['first', 'second']);
    await (await second)?.release();
    await third;
    expect(log).toEqual(['first', 'second', 'third']);
  });

  it('does not keep other keys waiting', async () => {
    const backend = new MemoryBackend();
    await hold(backend, { key: 'a' });
    await expect(backend.acquire(request({ key: 'b', wait: false }))).resolves.not.toBeNull();
  });

  it('is refused with null to a request that does not wait, which then leaves the queue', async () => {
    const backend = new MemoryBackend();
    const lease = await hold(backend);
    await expect(backend.acquire(request({ wait: false }))).resolves.toBeNull();
    expect(backend.contenders('orders/42')).toHaveLength(1);
    await lease.release();
    await expect(backend.acquire(request({ wait: false }))).resolves.not.toBeNull();
  });

  it('is granted with growing tokens, and with the request’s key and mode', async () => {
    const backend = new MemoryBackend();
    const tokens: bigint[] = [];
    for (const mode of ['exclusive', 'read', 'write'] as const) {
      const lease = await hold(backend, { mode });
      expect(lease).toMatchObject({ key: 'orders/42', mode, state: 'held' });
      expect(lease.isHeld()).toBe(true);
      tokens.push(lease.fencingToken);
      await lease.release();
    }
    expect(tokens).toEqual([1n, 2n, 3n].map((grant) => fencingTokenOf(grant)));
  });

  it('stays with the next holder when the last one releases twice', async () => {
    const backend = new MemoryBackend();
    const first = await hold(backend);
    await first.release();
    const second = await hold(backend);
    await first.release();
    expect(backend.leaseOn('orders/42')).toBe(second);
  });
});

describe('readers and writers', () => {
  it('readers hold together, and a writer waits for all of them', async () => {
    const backend = new MemoryBackend();
    const readers = [await hold(backend, { mode: 'read' }), await hold(backend, { mode: 'read' })];
    const log: string[] = [];
    const writer = ask(backend, log, 'writer', { mode: 'write' });
    await readers[0]?.release();
    await settle();
    expect(log).toEqual([]);
    await readers[1]?.release();
    await writer;
    expect(log).toEqual(['writer']);
  });

  it('readers do not overtake a writer that waits, and then go together', async () => {
    const backend = new MemoryBackend();
    const log: string[] = [];
    const reading = await hold(backend, { mode: 'read' });
    const writing = ask(backend, log, 'writer', { mode: 'write' });
    const later = [1, 2].map((number) => ask(backend, log, `reader ${number}`, { mode: 'read' }));
    await settle();
    expect(log).toEqual([]);
    await reading.release();
    await (await writing).release();
    await Promise.all(later);
    expect(log).toEqual(['writer', 'reader 1', 'reader 2']);
  });

  it.each(['exclusive', 'write'] as const)('%s keeps readers out', async (mode) => {
    const backend = new MemoryBackend();
    await hold(backend, { mode });
    await expect(backend.acquire(request({ mode: 'read', wait: false }))).resolves.toBeNull();
  });

  it('readers go at once when the writer ahead of them gives up', async () => {
    const backend = new MemoryBackend();
    const controller = new AbortController();
    await hold(backend, { mode: 'read' });
    const writing = backend.acquire(request({ mode: 'write', signal: controller.signal }));
    const reading = hold(backend, { mode: 'read' });
    controller.abort('no longer');
    await expect(writing).rejects.toBe('no longer');
    await expect(reading).resolves.toMatchObject({ mode: 'read' });
  });
});

describe('a wait that is given up', () => {
  it('rejects with the reason, untouched, and leaves the queue', async () => {
    const backend = new MemoryBackend();
    const holder = await hold(backend);
    const controller = new AbortController();
    const waiting = backend.acquire(request({ signal: controller.signal }));
    const reason = new Error('the caller’s own');
    controller.abort(reason);
    await expect(waiting).rejects.toBe(reason);
    expect(backend.contenders('orders/42')).toHaveLength(1);
    await holder.release();
    expect(backend.leaseOn('orders/42')).toBeUndefined();
  });

  it('leaves no listener, however it ends', async () => {
    const backend = new MemoryBackend();
    const controllers = [new AbortController(), new AbortController()];
    const lease = await hold(backend, { signal: controllers[0]?.signal });
    const waiting = backend.acquire(request({ signal: controllers[1]?.signal }));
    controllers[1]?.abort('over');
    await expect(waiting).rejects.toBe('over');
    await lease.release();
    expect(controllers.flatMap(({ signal }) => getEventListeners(signal, 'abort'))).toEqual([]);
  });

  it('does not begin under a signal that has aborted', async () => {
    const backend = new MemoryBackend();
    await expect(backend.acquire(request({ signal: AbortSignal.abort('before') }))).rejects.toBe('before');
    expect(backend.contenders('orders/42')).toEqual([]);
  });

  it('is too late in the same turn in which the lease is granted', async () => {
    const backend = new MemoryBackend();
    const controller = new AbortController();
    const asking = backend.acquire(request({ signal: controller.signal }));
    controller.abort();
    const lease = await asking;
    expect(lease?.isHeld()).toBe(true);
    expect(backend.leaseOn('orders/42')).toBe(lease);
  });

  it('is too late once the lease is granted', async () => {
    const backend = new MemoryBackend();
    const controller = new AbortController();
    const lease = await hold(backend, { signal: controller.signal });
    controller.abort();
    expect(lease.isHeld()).toBe(true);
    expect(backend.leaseOn('orders/42')).toBe(lease);
  });
});

describe('the wait queue of a key', () => {
  it('lists the requests in order, the holder first', async () => {
    const backend = new MemoryBackend();
    const lease = await hold(backend, { label: 'holder' });
    const waiting = backend.acquire(request({ label: 'waiter' }));
    expect(backend.contenders('orders/42').map(({ label }) => label)).toEqual(['holder', 'waiter']);
    expect(backend.leaseOn('orders/42')).toBe(lease);
    await lease.release();
    await (await waiting)?.release();
    expect(backend.contenders('orders/42')).toEqual([]);
    expect(backend.leaseOn('orders/42')).toBeUndefined();
  });
});

describe('closing', () => {
  it('loses every lease, rejects every waiter and refuses new requests', async () => {
    const backend = new MemoryBackend();
    const lease = await hold(backend);
    const waiting = backend.acquire(request());
    await backend.close();
    await expect(waiting).rejects.toBeInstanceOf(LockShutdownError);
    await expect(waiting).rejects.toMatchObject({ key: 'orders/42' });
    expect(lease.state).toBe('lost');
    expect(lease.signal.reason).toBeInstanceOf(LockShutdownError);
    await expect(backend.acquire(request())).rejects.toBeInstanceOf(LockShutdownError);
    expect(backend.contenders('orders/42')).toEqual([]);
  });

  it('may happen before a release', async () => {
    const backend = new MemoryBackend();
    const lease = await hold(backend);
    await backend.close();
    await expect(lease.release()).resolves.toBeUndefined();
  });
});
