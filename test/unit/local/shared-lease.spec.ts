import { describe, expect, it } from 'vitest';
import { LockLostError, LockShutdownError } from '../../../lib/contract/errors.js';
import { MOST_HAND_OVERS, GrantedLease } from '../../../lib/contract/granted-lease.js';
import { SharedLease } from '../../../lib/local/shared-lease.js';
import { MemoryBackend } from '../../../lib/memory/memory.backend.js';
import { Callers, settled, startCallers } from './callers.js';

describe('a lease that is suspended', () => {
  it('stays with its caller, is not handed over, and is given back after the caller’s release', async () => {
    const callers = startCallers();
    for (const name of ['a', 'b']) void callers.ask(name);
    await settled();
    const lease = callers.backend.last.grant();
    await settled();
    lease.suspend();
    await settled();
    expect([callers.lease('a').state, callers.lease('a').isHeld()]).toEqual(['suspended', true]);
    expect(callers.backend.entries).toHaveLength(2);
    await callers.lease('a').release();
    await settled();
    expect(callers.backend.entries.map(({ isGone }) => isGone)).toEqual([true, false]);
    expect(callers.told).toEqual(['a: granted']);
    callers.backend.last.grant();
    await settled();
    expect(callers.told).toEqual(['a: granted', 'b: granted']);
  });

  it('is held by its caller again when it is resumed, and is still not handed over', async () => {
    const callers = startCallers();
    void callers.ask('a');
    await settled();
    const lease = callers.backend.last.grant();
    await settled();
    lease.suspend();
    lease.resume();
    expect(callers.lease('a').state).toBe('held');
    void callers.ask('b');
    await settled();
    await callers.lease('a').release();
    await settled();
    expect(callers.backend.entries).toHaveLength(2);
    expect(callers.told).toEqual(['a: granted']);
  });

  it('asks its caller to release when it is revoked, and is not handed over', async () => {
    const callers = startCallers();
    for (const name of ['a', 'b']) void callers.ask(name);
    await settled();
    const lease = callers.backend.last.grant();
    await settled();
    lease.revoke();
    await settled();
    expect(callers.lease('a').state).toBe('revoking');
    expect(callers.lease('a').signal.reason).toMatchObject({ code: 'LOCK_REVOKED' });
    await callers.lease('a').release();
    await settled();
    expect(callers.told).toEqual(['a: granted']);
    expect(callers.backend.standing).toHaveLength(1);
  });
});

describe('a lease that is not intact when it reaches the local queue', () => {
  it.each([
    ['suspend', 'suspended'],
    ['revoke', 'revoking'],
    ['lose', 'lost'],
  ] as const)('goes to the first caller with its state, and to no other (%s)', async (verb, state) => {
    const callers = startCallers();
    for (const name of ['a', 'b']) void callers.ask(name);
    await settled();
    const lease = callers.backend.last.grant();
    if (verb === 'lose') callers.backend.last.lose();
    else lease[verb]();
    await settled();
    // A caller that is served by it sees its state. Such a lease is not handed over.
    if (callers.told.length > 0) expect(callers.lease('a').state).toBe(state);
    expect(callers.told.slice(1)).toEqual([]);
    await callers.leases.get('a')?.release();
    await settled();
    expect(callers.backend.entries).toHaveLength(2);
    callers.backend.last.grant();
    await settled();
    expect(callers.told.at(-1)).toMatch(/^[ab]: granted$/);
  });
});

describe('a lease that is lost', () => {
  it('is lost to its caller, and the waiters queue again', async () => {
    const callers = startCallers();
    for (const name of ['a', 'b', 'c']) void callers.ask(name);
    await settled();
    callers.backend.last.grant();
    await settled();
    const { signal } = callers.lease('a');
    callers.backend.last.lose();
    expect(callers.lease('a').isHeld()).toBe(false);
    expect(signal.reason).toMatchObject({ code: 'LOCK_LOST', key: 'k' });
    await settled();
    expect(callers.backend.entries).toHaveLength(2);
    const { fencingToken } = callers.lease('a');
    callers.backend.last.grant();
    await settled();
    expect(callers.told).toEqual(['a: granted', 'b: granted']);
    expect(callers.lease('b').fencingToken).toBeGreaterThan(fencingToken);
    await callers.lease('a').release();
    await settled();
    expect(callers.lease('b').isHeld()).toBe(true);
    await callers.lease('b').release();
    await settled();
    expect(callers.told.at(-1)).toBe('c: granted');
  });

  it('is detected by the clock without an event', async () => {
    const callers = startCallers();
    for (const name of ['a', 'b']) void callers.ask(name);
    await settled();
    let isCurrent = true;
    callers.backend.last.grant(() => isCurrent);
    await settled();
    isCurrent = false;
    expect(callers.lease('a').isHeld()).toBe(false);
    await callers.lease('a').release();
    await settled();
    expect(callers.told).toEqual(['a: granted']);
    expect(callers.backend.entries).toHaveLength(2);
    expect(callers.backend.standing).toEqual([callers.backend.last]);
  });

  it('is not handed over by a release that finds the time over', async () => {
    const callers = startCallers();
    for (const name of ['a', 'b']) void callers.ask(name);
    await settled();
    let isCurrent = true;
    callers.backend.last.grant(() => isCurrent);
    await settled();
    isCurrent = false;
    await callers.lease('a').release();
    await settled();
    expect(callers.told).toEqual(['a: granted']);
    callers.backend.last.grant();
    await settled();
    expect(callers.told.at(-1)).toBe('b: granted');
  });

  it('does not end the waits of callers that queue again', async () => {
    const callers = startCallers();
    void callers.ask('a');
    await settled();
    callers.backend.last.grant();
    await settled();
    callers.backend.last.lose();
    void callers.ask('b', { waitMs: 5 });
    await expect.poll(() => callers.told).toEqual(['a: granted', 'b: null']);
    await callers.lease('a').release();
    await settled();
    expect(callers.backend.standing).toEqual([]);
    expect(callers.forgot()).toBe(true);
  });
});

describe('readers', () => {
  const reader = { mode: 'read' } as const;

  it('hold together behind one contender, which leaves with the last of them', async () => {
    const callers = startCallers();
    for (const name of ['a', 'b', 'c']) void callers.ask(name, reader);
    await settled();
    expect(callers.backend.entries).toHaveLength(1);
    callers.backend.last.grant();
    await settled();
    void callers.ask('late', reader);
    await settled();
    expect(callers.told).toEqual(['a: granted', 'b: granted', 'c: granted', 'late: granted']);
    const tokens = ['a', 'b', 'c', 'late'].map((name) => callers.lease(name).fencingToken);
    expect(new Set(tokens).size).toBe(4);
    for (const name of ['b', 'late', 'a']) await callers.lease(name).release();
    expect(callers.backend.last.isGone).toBe(false);
    await callers.lease('c').release();
    expect(callers.backend.last.isGone).toBe(true);
    expect(callers.forgot()).toBe(true);
  });

  it('are all lost together', async () => {
    const callers = startCallers();
    for (const name of ['a', 'b']) void callers.ask(name, reader);
    await settled();
    callers.backend.last.grant();
    await settled();
    callers.backend.last.lose();
    expect(['a', 'b'].map((name) => callers.lease(name).state)).toEqual(['lost', 'lost']);
  });

  it('queue again after a suspension, and the present holders keep the lease', async () => {
    const callers = startCallers();
    void callers.ask('a', reader);
    await settled();
    const lease = callers.backend.last.grant();
    await settled();
    lease.suspend();
    lease.resume();
    void callers.ask('b', reader);
    await settled();
    expect(callers.told).toEqual(['a: granted']);
    expect(callers.backend.standing).toHaveLength(2);
    callers.backend.last.grant();
    await settled();
    expect(callers.told).toEqual(['a: granted', 'b: granted']);
    await callers.lease('a').release();
    expect(callers.backend.standing).toEqual([callers.backend.last]);
  });
});

describe('the local queue at shutdown', () => {
  it('rejects waiters, lets holders finish, and leaves no state', async () => {
    const callers = startCallers();
    void callers.ask('a');
    const waiting = callers.ask('b');
    await settled();
    callers.backend.last.grant();
    await settled();
    const draining = callers.admission.drain(60_000);
    await expect(waiting).rejects.toBeInstanceOf(LockShutdownError);
    expect(callers.lease('a').isHeld()).toBe(true);
    await callers.lease('a').release();
    await draining;
    expect(callers.backend.standing).toEqual([]);
    expect(callers.forgot()).toBe(true);
  });

  it('ends the lease of a holder that takes too long', async () => {
    const callers = startCallers();
    void callers.ask('a');
    await settled();
    callers.backend.last.grant();
    await settled();
    await callers.admission.drain(1);
    expect(callers.lease('a').signal.reason).toBeInstanceOf(LockShutdownError);
    expect(callers.backend.standing).toEqual([]);
    expect(callers.forgot()).toBe(true);
  });

  it('rejects waiters when their contender has left', async () => {
    const callers = startCallers();
    callers.backend.leavesAtOnce = false;
    const waiting = [callers.ask('a'), callers.ask('b')];
    const outcomes = Promise.allSettled(waiting);
    await settled();
    callers.admission.stopWaiting(60_000);
    await settled();
    callers.backend.last.leave();
    expect((await outcomes).map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    expect(callers.told.every((what) => what.includes('LockShutdownError'))).toBe(true);
  });
});

describe('many hand-overs', () => {
  it('end when the numbers of the grant are used up, even without other waiters', { timeout: 120_000 }, async () => {
    const callers = startCallers();
    let [tokens, last] = [0, 0n];
    const loop = async () => {
      while (tokens < MOST_HAND_OVERS + 1_000) {
        const lease = await callers.acquire();
        if (!lease || lease.fencingToken <= last) throw new Error('the token did not grow');
        [tokens, last] = [tokens + 1, lease.fencingToken];
        await lease.release();
      }
    };
    const loops = [loop(), loop()];
    await settled();
    callers.backend.last.grant();
    await expect.poll(() => callers.backend.entries.length, { timeout: 100_000 }).toBe(2);
    expect(tokens).toBe(MOST_HAND_OVERS);
    callers.backend.last.grant();
    await Promise.all(loops);
  });

  it('let the event loop continue', async () => {
    const callers = startCallers();
    let isOver = false;
    let handOvers = 0;
    const loop = async () => {
      while (!isOver && handOvers < 1_000_000) {
        const lease: GrantedLease | null = await callers.acquire();
        handOvers++;
        await lease?.release();
      }
    };
    const loops = [loop(), loop(), loop()];
    await settled();
    callers.backend.last.grant();
    await new Promise<void>((resolve) => setTimeout(resolve, 5));
    isOver = true;
    await Promise.all(loops);
    expect(handOvers).toBeLessThan(1_000_000);
  });
});

describe('local queues over the memory backend', () => {
  it('create one contender per process, and all callers of both are served', async () => {
    const backend = new MemoryBackend();
    const processes = [new Callers(backend), new Callers(backend)];
    let inside = 0;
    let most = 0;
    let contenders = 0;
    const tokens: bigint[] = [];
    const work = async (callers: Callers<MemoryBackend>) => {
      const lease = await callers.acquire();
      most = Math.max(most, ++inside);
      contenders = Math.max(contenders, backend.contenders('k').length);
      tokens.push(lease?.fencingToken ?? 0n);
      await new Promise(setImmediate);
      inside--;
      await lease?.release();
    };
    await Promise.all(Array.from({ length: 200 }, (_, place) => work(processes[place % 2] ?? expect.unreachable())));
    expect([most, tokens.length, backend.contenders('k').length]).toEqual([1, 200, 0]);
    // One contender that holds and one that is queued behind it, for each process.
    expect(contenders).toBeLessThanOrEqual(4);
    expect(tokens.toSorted((a, b) => Number(a - b))).toEqual(tokens);
    expect(processes.map((callers) => callers.forgot())).toEqual([true, true]);
  });
});

describe('a caller that is admitted late', () => {
  it.each(['suspended', 'revoking', 'lost'] as const)('is told that the lease is %s', (state) => {
    const lease = new GrantedLease({
      key: 'k',
      mode: 'read',
      fencingToken: 1n,
      isCurrent: () => true,
      giveBack: async () => {},
    });
    const tenure = new SharedLease(lease, false, {
      origin: { connection: 'default', backend: 'test' },
      waitingCallers: 0,
      left: async () => {},
      closed: () => {},
      known: () => {},
    });
    const reason = new LockLostError('k', 'the session is over');
    if (state === 'suspended') lease.suspend();
    else if (state === 'revoking') lease.revoke();
    else lease.lose(reason);
    const own = tenure.grant({ key: 'k', mode: 'read', line: 'fifo', identity: 'k', keepMs: 0 }, undefined);
    expect(own.state).toBe(state);
    expect(own.signal.aborted).toBe(state !== 'suspended');
    if (state === 'lost') expect(own.signal.reason).toBe(reason);
  });
});
