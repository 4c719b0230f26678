import 'reflect-metadata';
import { Injectable, Logger } from '@nestjs/common';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { fencingTokenOf } from '../../lib/contract/granted-lease.js';
import { deferred } from '../../lib/async/deferred.js';
import {
  assertHeld,
  currentLease,
  DistributedLock,
  LockReentrancyError,
  LockService,
  LockTimeoutError,
  ReadLock,
  WriteLock,
} from '../../lib/index.js';
import { MultiLease } from '../../lib/composite/multi-lease.js';
import { startApp } from './app.js';

@Injectable()
class Desk {
  ran = 0;

  constructor(readonly locks: LockService) {}

  @DistributedLock('desk', { waitMs: 1 })
  async impatient() {
    this.ran++;
  }

  @DistributedLock('desk', { onContention: 'skip' })
  async optional(): Promise<string | undefined> {
    this.ran++;
    return 'ran';
  }

  @DistributedLock('desk', { onContention: 'skip', waitMs: 60_000 })
  async optionalButPatient(): Promise<string | undefined> {
    return 'ran';
  }

  @DistributedLock('desk', { onContention: 'skip' })
  async contendedInside(): Promise<void> {
    await this.locks.acquire('other', { waitMs: 0 });
  }

  @DistributedLock('desk', { onContention: 'skip' })
  async failing(): Promise<void> {
    throw new LockTimeoutError('made by hand', 1);
  }

  @DistributedLock(() => wrongKey(), { onContention: 'skip' })
  async unkeyed(): Promise<void> {
    this.ran++;
  }

  @DistributedLock('desk', { line: 'none' })
  async racing() {
    return this.locks.tryAcquire('unrelated').then((lease) => lease?.release());
  }

  @DistributedLock('desk', { reentrant: false })
  async outerOnce(): Promise<void> {
    await this.outerOnce();
  }

  @DistributedLock('desk')
  async outer(): Promise<unknown[]> {
    return Promise.all([this.inner('a'), this.inner('b')]);
  }

  @DistributedLock('desk', { label: 'the inner one' })
  async inner(name: string): Promise<unknown> {
    return [name, assertHeld().fencingToken];
  }

  @DistributedLock(function (this: Desk, a: string, b: string) {
    return [`${this.prefix}/${a}`, `${this.prefix}/${b}`];
  })
  async transfer(_a: string, _b: string): Promise<unknown> {
    const lease = currentLease();
    return lease instanceof MultiLease && lease.leases.map(({ key }) => key);
  }

  @DistributedLock(['y', 'x'])
  async fixedPair() {
    return currentLease()?.key;
  }

  @ReadLock((name: string) => `file/${name}`)
  async read(_name: string, during: () => unknown) {
    await during();
    return currentLease()?.mode;
  }

  @WriteLock((name: string) => `file/${name}`)
  async write(_name: string, during: () => unknown) {
    await during();
    return currentLease()?.mode;
  }

  private readonly prefix = 'account';
}

let wrongKey: () => string = () => 'fine';

async function startDesk() {
  const { app, backend } = await startApp({ providers: [Desk] });
  return { desk: app.get(Desk), locks: app.get(LockService), backend };
}

describe('onContention', () => {
  it("'throw', the default: rejects with key and waiting time, and does not run", async () => {
    const { desk, locks } = await startDesk();
    await using _held = await locks.acquire('desk');
    await expect(desk.impatient()).rejects.toMatchObject({ name: 'LockTimeoutError', key: 'desk', waitMs: 1 });
    expect(desk.ran).toBe(0);
  });

  it("'skip': asks once, does not run, resolves to undefined, and logs at debug level", async () => {
    const debug = vi.spyOn(Logger.prototype, 'debug').mockReturnValue();
    onTestFinished(() => debug.mockRestore());
    const { desk, locks, backend } = await startDesk();
    await using _held = await locks.acquire('desk');
    expect(await desk.optional()).toBeUndefined();
    expect(desk.ran).toBe(0);
    expect(backend.requests.at(-1)?.wait).toBe(false);
    expect(debug.mock.calls).toEqual([['Desk.optional was skipped: "desk" is locked by somebody else (waited 0 ms)']]);
  });

  it("'skip': logs once, however often it is called", async () => {
    const debug = vi.spyOn(Logger.prototype, 'debug').mockReturnValue();
    onTestFinished(() => debug.mockRestore());
    const { desk, locks } = await startDesk();
    await using _held = await locks.acquire('desk');
    // Within a minute, in which the test before may have logged already.
    for (let call = 0; call < 50; call++) await desk.optional();
    expect(debug.mock.calls.length).toBeLessThanOrEqual(1);
  });

  it("'skip': runs when the key is free, and with waitMs when it becomes free", async () => {
    const { desk, locks, backend } = await startDesk();
    expect(await desk.optional()).toBe('ran');
    const held = await locks.acquire('desk');
    const waiting = desk.optionalButPatient();
    await backend.standing('desk', 2);
    await held.release();
    expect(await waiting).toBe('ran');
  });

  it("'skip': an error of the method itself is no contention, not even a LockTimeoutError", async () => {
    const { desk, locks, backend } = await startDesk();
    await using _held = await locks.acquire('other');
    await expect(desk.contendedInside()).rejects.toMatchObject({ code: 'LOCK_TIMEOUT', key: 'other' });
    await expect(desk.failing()).rejects.toMatchObject({ code: 'LOCK_TIMEOUT', key: 'made by hand' });
    expect(backend.busyKeys).toEqual(['other']);
  });

  it("'skip': rejects with an error of the key function", async () => {
    const { desk } = await startDesk();
    wrongKey = () => {
      throw new LockTimeoutError('in the key function', 1);
    };
    await expect(desk.unkeyed()).rejects.toThrow('in the key function');
    wrongKey = () => '';
    await expect(desk.unkeyed()).rejects.toThrow('@DistributedLock on Desk.unkeyed: the key must be text');
    expect(desk.ran).toBe(0);
  });
});

describe('the request of a locked call', () => {
  it('is labelled with its class and method unless it has a label', async () => {
    const { desk, backend } = await startDesk();
    await desk.impatient();
    await desk.inner('a');
    expect(backend.requests.map(({ label }) => label)).toEqual(['Desk.impatient', 'the inner one']);
  });

  it("has no place in a queue with line: 'none'", async () => {
    const { desk, backend } = await startDesk();
    await desk.racing();
    expect(backend.requests[0]).toMatchObject({ line: 'none', wait: false });
    expect(backend.requests[1]).toMatchObject({ line: 'fifo' });
  });

  it('contains all keys in one order, and calls the key function with the instance as this', async () => {
    const { desk, backend } = await startDesk();
    expect(await desk.transfer('b', 'a')).toEqual(['account/a', 'account/b']);
    expect(await desk.transfer('a', 'b')).toEqual(['account/a', 'account/b']);
    expect(await desk.fixedPair()).toBe('x, y');
    expect(backend.busyKeys).toEqual([]);
  });

  it('locks keys in one order, so opposite transfers do not deadlock', async () => {
    const { desk } = await startDesk();
    const both = [desk.transfer('a', 'b'), desk.transfer('b', 'a')];
    expect(await Promise.all(both)).toHaveLength(2);
  });
});

describe('a locked method that calls another of the same key', () => {
  it('uses the same lease, and siblings run one after another', async () => {
    const { desk, backend } = await startDesk();
    expect(await desk.outer()).toEqual([
      ['a', fencingTokenOf(1n)],
      ['b', fencingTokenOf(1n)],
    ]);
    expect(backend.requests).toHaveLength(1);
  });

  it('is refused with reentrant: false', async () => {
    const { desk, backend } = await startDesk();
    await expect(desk.outerOnce()).rejects.toBeInstanceOf(LockReentrancyError);
    expect(backend.busyKeys).toEqual([]);
  });
});

describe('@ReadLock and @WriteLock', () => {
  it('run readers concurrently, and the writer alone', async () => {
    const { desk, backend } = await startDesk();
    const [bothIn, oneIn] = [deferred(), deferred()];
    let inside = 0;
    const enter = () => {
      if (++inside === 2) bothIn.resolve();
      return oneIn.promise;
    };
    const readers = [desk.read('a', enter), desk.read('a', enter)];
    await bothIn.promise;
    let hasWritten = false;
    const writer = desk.write('a', () => (hasWritten = true));
    await backend.standing('file/a', 3);
    expect(hasWritten).toBe(false);
    oneIn.resolve();
    expect(await Promise.all([...readers, writer])).toEqual(['read', 'read', 'write']);
    expect(backend.busyKeys).toEqual([]);
  });

  it('let a writer read, and reject a reader that wants to write', async () => {
    const { desk } = await startDesk();
    let seen: unknown;
    await desk.write('a', async () => (seen = await desk.read('a', () => {})));
    expect(seen).toBe('read');
    await expect(desk.read('a', () => desk.write('a', () => {}))).rejects.toThrow('a reader cannot become the writer');
  });
});
