import 'reflect-metadata';
import { Injectable } from '@nestjs/common';
import { describe, expect, it, vi } from 'vitest';
import { deferred } from '../../lib/async/deferred.js';
import {
  assertHeld,
  DistributedLock,
  LockLostError,
  LockService,
  LockShutdownError,
  LockTimeoutError,
  ReadLock,
  WriteLock,
} from '../../lib/index.js';
import type { Lease } from '../../lib/index.js';
import { startApp } from './app.js';

// Long enough that the hand-over time of a process does not end, however busy the machine is.
vi.mock('../../lib/async/clock.js', async (original) => ({ ...(await original<object>()), now: () => 1_000 }));

@Injectable()
class Till {
  readonly leases: Lease[] = [];
  readonly order: number[] = [];
  inside = 0;
  most = 0;
  #opening = deferred();

  open(): void {
    this.#opening.resolve();
  }

  close(): void {
    this.#opening = deferred();
  }

  @DistributedLock('till')
  async count(number: number): Promise<bigint> {
    const lease = assertHeld();
    this.leases.push(lease);
    this.order.push(number);
    this.most = Math.max(this.most, ++this.inside);
    await this.#opening.promise;
    this.inside--;
    return lease.fencingToken;
  }

  @DistributedLock('till', { onContention: 'skip' })
  async maybe(): Promise<string | undefined> {
    return 'counted';
  }

  @DistributedLock('till', { waitMs: 5 })
  async hastily(): Promise<void> {}

  @DistributedLock('till', { localLine: false })
  async strictly(): Promise<void> {}

  @DistributedLock('till', { keepMs: 50 })
  async often(): Promise<void> {}

  @WriteLock('prices', { keepMs: 50 })
  async oftenToo(): Promise<void> {}

  @DistributedLock('till')
  async outer(): Promise<string | undefined> {
    return this.maybe();
  }

  @ReadLock('prices')
  async read(): Promise<number> {
    this.most = Math.max(this.most, ++this.inside);
    await new Promise(setImmediate);
    return --this.inside;
  }

  @WriteLock('prices')
  async write(): Promise<number> {
    const alone = this.inside;
    this.inside += 1_000;
    await new Promise(setImmediate);
    this.inside -= 1_000;
    return alone;
  }
}

const turns = async () => {
  for (let turn = 0; turn < 5; turn++) await new Promise(setImmediate);
};

/** Starts an application with the default options: its callers use a local queue. */
async function startTill(drainTimeoutMs = 60_000, keepMs = 0) {
  const { app, backend } = await startApp({ providers: [Till] }, { localLine: true, drainTimeoutMs, keepMs });
  return { app, till: app.get(Till), backend };
}

/** Starts one call that runs, and the given number of waiting calls. */
async function whileCounting(waiting: number, drainTimeoutMs?: number) {
  const started = await startTill(drainTimeoutMs);
  const calls = Array.from({ length: waiting + 1 }, (_, number) => started.till.count(number));
  const outcomes = Promise.allSettled(calls);
  await turns();
  expect(started.till.order).toEqual([0]);
  return { ...started, calls, outcomes };
}

describe('calls of one application', () => {
  it('run one after another in the order of the calls, behind one contender', async () => {
    const { till, backend, outcomes } = await whileCounting(20);
    expect(backend.contenders('till')).toHaveLength(1);
    till.open();
    const tokens = (await outcomes).map((outcome) => outcome.status === 'fulfilled' && outcome.value);
    expect(till.order).toEqual(Array.from({ length: 21 }, (_, number) => number));
    expect(till.most).toBe(1);
    expect(tokens.every((token, place) => place === 0 || token > (tokens[place - 1] ?? 0n))).toBe(true);
    expect(backend.busyKeys).toEqual([]);
  });

  it('have a label each, and are all listed by contenders()', async () => {
    const { app, till, outcomes } = await whileCounting(2);
    const shown = await app.get(LockService).contenders('till');
    expect(shown.map(({ state, isLocal, owner }) => [state, isLocal, owner.label])).toEqual([
      ['held', false, 'Till.count'],
      ['waiting', true, 'Till.count'],
      ['waiting', true, 'Till.count'],
    ]);
    till.open();
    await outcomes;
  });

  it('are skipped when others already wait, and run when none do', async () => {
    const { till, backend, outcomes } = await whileCounting(1);
    expect(await till.maybe()).toBeUndefined();
    // The waiting call may have its own contender as well, when the hand-over time of the holder's process was over.
    expect(backend.requests.filter(({ wait }) => !wait)).toEqual([]);
    till.open();
    await outcomes;
    expect(await till.maybe()).toBe('counted');
    expect(await till.outer()).toBe('counted');
    expect(backend.busyKeys).toEqual([]);
  });

  it('time out alone, without the calls behind them', async () => {
    const { till, outcomes, backend } = await whileCounting(0);
    const hasty = till.hastily();
    const patient = till.count(7);
    await expect(hasty).rejects.toBeInstanceOf(LockTimeoutError);
    till.open();
    await outcomes;
    await patient;
    expect(till.order).toEqual([0, 7]);
    expect(backend.busyKeys).toEqual([]);
  });

  it('have their own contenders with strict order', async () => {
    const { till, outcomes, backend } = await whileCounting(1);
    // Requested in the same turn: the waiting call gets its own contender, too, when the holder's hand-over time is
    // over.
    const two = backend.standing('till', 2);
    const strict = till.strictly();
    await two;
    till.open();
    await Promise.all([outcomes, strict]);
    expect(backend.busyKeys).toEqual([]);
  });

  it('request a warm lease by decorator or by module option', async () => {
    const keeps = ({ backend }: Awaited<ReturnType<typeof startTill>>) =>
      backend.requests.map((request) => request.keeps);
    const started = await startTill();
    await started.till.often();
    await started.till.oftenToo();
    await started.till.hastily();
    expect(keeps(started)).toEqual([true, true, false]);
    const keeping = await startTill(60_000, 50);
    await keeping.till.hastily();
    await keeping.till.strictly();
    expect(keeps(keeping)).toEqual([true, false]);
  });

  it('read concurrently, and never beside a writer', async () => {
    const { till, backend } = await startTill();
    const calls = Array.from({ length: 40 }, (_, number) => (number % 4 === 3 ? till.write() : till.read()));
    const seen = await Promise.all(calls);
    expect(seen.filter((_, number) => number % 4 === 3)).toEqual(Array.from({ length: 10 }, () => 0));
    expect(till.most).toBeGreaterThan(1);
    expect(till.most).toBeLessThan(1_000);
    expect(backend.busyKeys).toEqual([]);
  });
});

describe('a lost lease', () => {
  it('is lost for the call that has it, and the others are queued again', async () => {
    const { till, backend, calls, outcomes } = await whileCounting(2);
    const lost = backend.leaseOn('till');
    lost?.lose(new LockLostError('till', 'test'));
    expect(till.leases[0]?.signal.reason).toBeInstanceOf(LockLostError);
    await turns();
    // The memory backend deletes no contender: the lost one stays queued until it is released.
    expect(till.order).toEqual([0]);
    till.open();
    await expect(calls[0]).rejects.toBeInstanceOf(LockLostError);
    expect((await outcomes).map(({ status }) => status)).toEqual(['rejected', 'fulfilled', 'fulfilled']);
    expect(till.order).toEqual([0, 1, 2]);
    expect(backend.busyKeys).toEqual([]);
  });
});

describe('app.close()', () => {
  it('rejects calls in the local queue, lets the running one finish, and leaves nothing', async () => {
    const { app, till, backend, calls, outcomes } = await whileCounting(3);
    const closing = app.close();
    for (const call of calls.slice(1)) await expect(call).rejects.toBeInstanceOf(LockShutdownError);
    expect(till.leases[0]?.isHeld()).toBe(true);
    till.open();
    await closing;
    expect((await outcomes).map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'rejected', 'rejected']);
    expect([backend.closes, backend.busyKeys]).toEqual([1, []]);
    await expect(till.maybe()).rejects.toBeInstanceOf(LockShutdownError);
  });

  it('ends the lease of a call that has not finished in time', async () => {
    const { app, till, backend, outcomes } = await whileCounting(1, 1);
    await app.close();
    expect(till.leases[0]?.state).toBe('lost');
    expect(till.leases[0]?.signal.reason).toBeInstanceOf(LockShutdownError);
    till.open();
    expect((await outcomes).map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    expect([backend.closes, backend.busyKeys]).toEqual([1, []]);
  });
});
