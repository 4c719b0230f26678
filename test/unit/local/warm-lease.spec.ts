import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { deferred } from '../../../lib/async/deferred.js';
import { settled, startCallers, untilTurnIsLong, whileOneIsKept } from './callers.js';
import type { Callers } from './callers.js';
import type { ScriptedBackend } from './scripted.backend.js';

// The test sets the time.
const clock = vi.hoisted(() => ({ ms: 1_000 }));
vi.mock('../../../lib/async/clock.js', () => ({ now: () => clock.ms }));

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] }));
afterEach(() => void vi.useRealTimers());

async function pass(ms: number): Promise<void> {
  for (let passed = 0; passed < ms; passed++) {
    clock.ms++;
    vi.advanceTimersByTime(1);
  }
  await settled();
}

const KEPT = { keepMs: 60_000 };

/** A warm lease: the key was used and is kept. */
async function whileKept(keepMs = KEPT.keepMs, mode: 'exclusive' | 'read' = 'exclusive') {
  const callers = startCallers();
  void callers.ask('first', { keepMs, mode });
  await settled();
  callers.backend.last.grant();
  await settled();
  await callers.lease('first').release();
  return callers;
}

const isKept = ({ backend }: Callers<ScriptedBackend>) => backend.entries.length === 1 && !backend.last.isGone;

describe('a warm lease', () => {
  it('stays with the process after a release, and the backend is notified', async () => {
    const callers = await whileKept();
    expect(callers.lease('first').state).toBe('released');
    expect(isKept(callers)).toBe(true);
    expect(callers.backend.last.request.keeps).toBe(true);
    expect(callers.admission.local.find('exclusive', 'k')?.isKept).toBe(true);
  });

  it('stays with the process also after a holder that releases it as soon as it has it', async () => {
    const callers = startCallers();
    const passed = callers.pass(KEPT);
    await settled();
    callers.backend.last.grant();
    await passed;
    for (let time = 0; time < 3; time++) await callers.pass(KEPT);
    await settled();
    expect(isKept(callers)).toBe(true);
  });

  it.each([0, Infinity])('is used again without the backend by a caller that waits for %d ms', async (waitMs) => {
    const callers = await whileKept();
    const { fencingToken } = callers.lease('first');
    const lease = await callers.acquire({ ...KEPT, waitMs });
    expect(lease?.fencingToken).toBeGreaterThan(fencingToken);
    expect(callers.backend.entries).toHaveLength(1);
    await lease?.release();
    expect(isKept(callers)).toBe(true);
  });

  it.each([0, Infinity])('is used again any number of times in one turn, by waits of %d ms', async (waitMs) => {
    const callers = await whileKept();
    for (let time = 0; time < 2_000; time++) {
      const lease = await callers.acquire({ ...KEPT, waitMs });
      expect(lease, `time ${time}`).not.toBeNull();
      await lease?.release();
    }
    expect(callers.backend.entries).toHaveLength(1);
  });

  it('is not kept without keepMs', async () => {
    const callers = await whileKept(0);
    expect(callers.backend.standing).toEqual([]);
    expect(callers.forgot()).toBe(true);
  });

  it('is given back after the use by a caller without keepMs', async () => {
    const callers = await whileKept();
    const lease = await callers.acquire({ keepMs: 0 });
    await lease?.release();
    expect(callers.backend.standing).toEqual([]);
    expect(callers.forgot()).toBe(true);
  });

  it('is given back when its time is over, counted from the last use', async () => {
    const callers = await whileKept(80);
    await pass(70);
    await (await callers.acquire({ keepMs: 80 }))?.release();
    await pass(70);
    expect(isKept(callers)).toBe(true);
    await pass(20);
    expect(callers.backend.standing).toEqual([]);
    expect(callers.forgot()).toBe(true);
    expect(callers.backend.last.demand.watches).toBe(0);
  });

  it('is not given back by the time while it is used', async () => {
    const callers = await whileKept(20);
    const lease = await callers.acquire({ keepMs: 20 });
    await pass(60);
    expect([lease?.isHeld(), isKept(callers)]).toEqual([true, true]);
    await lease?.release();
    await pass(25);
    expect(callers.backend.standing).toEqual([]);
  });

  it('is given back at once when another process waits', async () => {
    const callers = await whileKept();
    expect(callers.backend.last.demand.watches).toBe(1);
    callers.backend.last.demand.want();
    await settled();
    expect(callers.backend.standing).toEqual([]);
    expect(callers.forgot()).toBe(true);
  });

  it('is not kept once another process has waited during its use', async () => {
    const callers = await whileKept();
    const lease = await callers.acquire(KEPT);
    callers.backend.last.demand.want();
    await settled();
    expect(lease?.isHeld()).toBe(true);
    await lease?.release();
    expect(callers.backend.standing).toEqual([]);
    expect(callers.forgot()).toBe(true);
  });

  it('is not kept by a caller while another one waits behind it', async () => {
    const callers = startCallers();
    for (const name of ['a', 'b']) void callers.ask(name, KEPT);
    await settled();
    callers.backend.last.grant();
    await settled();
    await callers.lease('a').release();
    await settled();
    expect(callers.told).toEqual(['a: granted', 'b: granted']);
    await callers.lease('b').release();
    expect(isKept(callers)).toBe(true);
  });

  it.each(['suspend', 'revoke', 'lose'] as const)('is given back when the backend reports %s', async (verb) => {
    const callers = await whileKept();
    if (verb === 'lose') callers.backend.last.lose();
    else callers.backend.last.lease?.[verb]();
    await settled();
    expect(callers.backend.standing).toEqual([]);
    expect(callers.backend.last.demand.watches).toBe(0);
    expect(callers.forgot()).toBe(true);
    void callers.ask('next', KEPT);
    await settled();
    expect(callers.backend.entries).toHaveLength(2);
  });

  it('is not kept when it is released while suspended', async () => {
    const callers = startCallers();
    void callers.ask('a', KEPT);
    await settled();
    const lease = callers.backend.last.grant();
    await settled();
    lease.suspend();
    await callers.lease('a').release();
    expect(callers.backend.standing).toEqual([]);
    expect(callers.forgot()).toBe(true);
  });

  it('is not used again when its time with the backend is over by the clock', async () => {
    const callers = startCallers();
    void callers.ask('first', KEPT);
    await settled();
    let isCurrent = true;
    callers.backend.last.grant(() => isCurrent);
    await settled();
    await callers.lease('first').release();
    isCurrent = false;
    void callers.ask('next', KEPT);
    await settled();
    expect(callers.told).toEqual(['first: granted']);
    expect(callers.backend.standing).toEqual([callers.backend.last]);
    callers.backend.last.grant();
    await settled();
    expect(callers.told.at(-1)).toBe('next: granted');
  });

  it('is given back at shutdown', async () => {
    const callers = await whileKept();
    await callers.admission.drain(0);
    expect(callers.backend.standing).toEqual([]);
    expect(callers.backend.last.demand.watches).toBe(0);
    expect(callers.forgot()).toBe(true);
  });

  it('is given back before shutdown ends', async () => {
    const callers = await whileKept();
    let giveBack = () => {};
    callers.backend.last.givingBack = new Promise((resolve) => (giveBack = resolve));
    let isDrained = false;
    const draining = callers.admission.drain(0).then(() => (isDrained = true));
    await settled();
    expect(isDrained).toBe(false);
    giveBack();
    await draining;
  });

  it('is kept for readers as well, and used again by several', async () => {
    const callers = await whileKept(KEPT.keepMs, 'read');
    const leases = await Promise.all([1, 2, 3].map(() => callers.acquire({ ...KEPT, mode: 'read' })));
    expect(leases.every((lease) => lease?.isHeld())).toBe(true);
    for (const lease of leases) await lease?.release();
    expect(isKept(callers)).toBe(true);
    callers.backend.last.demand.want();
    await settled();
    expect(callers.forgot()).toBe(true);
  });
});

describe('a lease of which it is not known whether another process waits', () => {
  // The time after which a process must know that.
  const LONGEST_MS = 15;
  const kept = { keepMs: 100 };

  /** A lease with such a time behind it. Servers do not answer before `answer` is called. */
  async function whileHeld() {
    const callers = await whileOneIsKept();
    void callers.ask('holding', kept);
    await settled();
    const answer = deferred<void>();
    callers.backend.last.demand.answering = answer.promise;
    callers.backend.last.grant();
    await settled();
    return { callers, answer: answer.resolve };
  }

  /** The holder releases after that time, and the caller that waited gives up. */
  async function releasedWhileInDoubt(callers: Awaited<ReturnType<typeof whileHeld>>['callers']) {
    const abort = new AbortController();
    const leaving = callers.ask('leaving', { signal: abort.signal });
    await settled();
    clock.ms += LONGEST_MS;
    await callers.lease('holding').release();
    abort.abort(new Error('enough'));
    await expect(leaving).rejects.toThrow('enough');
  }

  it('stays warm when no other process waits, and the caller that waited has given up', async () => {
    const { callers, answer } = await whileHeld();
    await releasedWhileInDoubt(callers);
    answer();
    await settled();
    expect(callers.backend.last.isGone).toBe(false);
    await pass(kept.keepMs + 5);
    expect(callers.backend.last.isGone).toBe(true);
    expect(callers.forgot()).toBe(true);
  });

  it('is given back when another process waits, and the caller that waited has given up', async () => {
    const { callers } = await whileHeld();
    await releasedWhileInDoubt(callers);
    callers.backend.last.demand.want();
    await settled();
    expect(callers.backend.last.isGone).toBe(true);
    expect(callers.forgot()).toBe(true);
  });

  it('is asked of the servers for no try that waited for another turn meanwhile', async () => {
    const { callers, answer } = await whileHeld();
    await callers.lease('holding').release();
    await untilTurnIsLong(callers);
    const trying = callers.ask('try', { ...kept, waitMs: 0 });
    clock.ms += LONGEST_MS;
    await settled();
    expect([callers.told, callers.backend.entries.length]).toEqual([['keeper: granted', 'holding: granted'], 2]);
    answer();
    await trying;
    expect(callers.told.at(-1)).toBe('try: granted');
    expect(callers.backend.entries).toHaveLength(2);
  });
});

describe('the idle note of a warm lease', () => {
  it('is set after a while without use, and cleared by the next use', async () => {
    const callers = await whileKept();
    expect(callers.backend.last.notes).toEqual([]);
    await pass(100);
    expect(callers.backend.last.notes).toEqual([true]);
    const lease = await callers.acquire(KEPT);
    expect(callers.backend.last.notes).toEqual([true, false]);
    await lease?.release();
    await pass(100);
    expect(callers.backend.last.notes).toEqual([true, false, true]);
  });

  it('is not set while the lease is used all the time', async () => {
    const callers = await whileKept();
    for (let time = 0; time < 20; time++) {
      const lease = await callers.acquire(KEPT);
      await pass(10);
      await lease?.release();
      await pass(10);
    }
    expect(callers.backend.last.notes).toEqual([]);
    expect(isKept(callers)).toBe(true);
  });
});
