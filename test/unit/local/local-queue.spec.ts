import { getEventListeners } from 'node:events';
import { describe, expect, it } from 'vitest';
import { deferred } from '../../../lib/async/deferred.js';
import { LockTimeoutError, LockUnavailableError } from '../../../lib/contract/errors.js';
import { settled, startCallers } from './callers.js';

const listenersOf = (signal: AbortSignal) => getEventListeners(signal, 'abort').length;

describe('the callers of one process', () => {
  it('share one contender and are served in the order of their calls', async () => {
    const callers = startCallers();
    for (const name of ['a', 'b', 'c', 'd']) void callers.ask(name);
    await settled();
    expect(callers.backend.entries).toHaveLength(1);
    expect(callers.told).toEqual([]);

    callers.backend.last.grant();
    await settled();
    for (const [place, name] of ['a', 'b', 'c', 'd'].entries()) {
      expect(callers.told).toHaveLength(place + 1);
      expect(callers.told.at(-1)).toBe(`${name}: granted`);
      await callers.lease(name).release();
      await settled();
    }

    expect(callers.backend.entries).toHaveLength(1);
    expect(callers.backend.last.isGone).toBe(true);
    expect(callers.forgot()).toBe(true);
  });

  it('have a token each, every one larger than all before it', async () => {
    const callers = startCallers();
    const tokens: bigint[] = [];
    const work = async () => {
      const lease = await callers.acquire();
      tokens.push(lease?.fencingToken ?? 0n);
      await lease?.release();
    };
    const first = Array.from({ length: 20 }, work);
    await settled();
    callers.backend.last.grant();
    await Promise.all(first);
    const second = Array.from({ length: 20 }, work);
    await settled();
    callers.backend.last.grant();
    await Promise.all(second);

    expect(callers.backend.entries).toHaveLength(2);
    expect(tokens).toHaveLength(40);
    tokens.slice(1).forEach((token, place) => expect(token).toBeGreaterThan(tokens[place] ?? 0n));
  });

  it('are separate for each key and mode', async () => {
    const callers = startCallers();
    void callers.ask('one', { key: 'one' });
    void callers.ask('other', { key: 'other' });
    void callers.ask('reader', { key: 'one', mode: 'read' });
    await settled();
    expect(callers.backend.entries.map(({ request: { key, mode } }) => `${key} ${mode}`)).toEqual([
      'one exclusive',
      'other exclusive',
      'one read',
    ]);
  });

  it('are resolved from a release when the backend has the key back', async () => {
    const callers = startCallers();
    void callers.ask('a');
    await settled();
    callers.backend.last.grant();
    const { promise, resolve } = deferred();
    callers.backend.last.givingBack = promise;
    await settled();
    let isReleased = false;
    const releasing = callers
      .lease('a')
      .release()
      .then(() => (isReleased = true));
    await settled();
    expect(isReleased).toBe(false);
    resolve();
    await releasing;
  });

  it('hand the key to a caller that queues during the hand-over', async () => {
    const callers = startCallers();
    void callers.ask('a');
    await settled();
    callers.backend.last.grant();
    await settled();
    void callers.ask('b');
    await callers.lease('a').release();
    await settled();
    expect(callers.told).toEqual(['a: granted', 'b: granted']);
    expect(callers.backend.entries).toHaveLength(1);
  });
});

describe('a caller in the local queue', () => {
  it('times out at its own deadline, and the others stay queued', async () => {
    const callers = startCallers();
    void callers.ask('patient');
    expect(await callers.ask('hasty', { waitMs: 5 })).toBeNull();
    expect(callers.backend.standing).toHaveLength(1);
    callers.backend.last.grant();
    await settled();
    expect(callers.told).toEqual(['hasty: null', 'patient: granted']);
  });

  it('gives up by its own signal, whose listener is removed', async () => {
    const callers = startCallers();
    const abort = new AbortController();
    void callers.ask('first', {});
    const cancelled = callers.ask('cancelled', { signal: abort.signal });
    void callers.ask('last');
    await settled();
    expect(listenersOf(abort.signal)).toBe(1);
    const reason = new Error('the customer left');
    abort.abort(reason);
    await expect(cancelled).rejects.toBe(reason);
    expect(listenersOf(abort.signal)).toBe(0);

    callers.backend.last.grant();
    await settled();
    await callers.lease('first').release();
    await settled();
    expect(callers.told.at(-1)).toBe('last: granted');
  });

  it('is not affected by its signal once it holds', async () => {
    const callers = startCallers();
    const abort = new AbortController();
    void callers.ask('a', { signal: abort.signal });
    await settled();
    callers.backend.last.grant();
    await settled();
    expect(listenersOf(abort.signal)).toBe(0);
    abort.abort();
    expect(callers.lease('a').isHeld()).toBe(true);
  });

  it('loses nothing by releasing twice', async () => {
    const callers = startCallers();
    for (const name of ['a', 'b', 'c']) void callers.ask(name);
    await settled();
    callers.backend.last.grant();
    await settled();
    await Promise.all([callers.lease('a').release(), callers.lease('a').release()]);
    await settled();
    expect(callers.told).toEqual(['a: granted', 'b: granted']);
  });
});

/** One caller that waits, and whose contender leaves the queue only when the test says so. */
async function lastWaiter() {
  const callers = startCallers();
  callers.backend.leavesAtOnce = false;
  const abort = new AbortController();
  const leaving = callers.ask('leaving', { signal: abort.signal });
  await settled();
  return { callers, leaving, giveUp: () => abort.abort(new Error('enough')) };
}

describe('the last waiter that gives up', () => {
  it('aborts the contender, and rejects when that has left the queue', async () => {
    const callers = startCallers();
    callers.backend.leavesAtOnce = false;
    const abort = new AbortController();
    void callers.ask('hasty', { waitMs: 5 });
    const last = callers.ask('last', { signal: abort.signal });
    last.catch(() => {});
    await expect.poll(() => callers.told).toEqual(['hasty: null']);
    abort.abort(new Error('enough'));
    await settled();
    expect(callers.backend.entries[0]?.isAborted).toBe(true);
    expect(callers.told).toEqual(['hasty: null']);
    callers.backend.entries[0]?.leave();
    await expect(last).rejects.toThrow('enough');
    expect(callers.forgot()).toBe(true);
  });

  it('is followed by a caller that queued while the contender leaves', async () => {
    const { callers, leaving, giveUp } = await lastWaiter();
    giveUp();
    void callers.ask('next');
    await settled();
    expect(callers.backend.entries).toHaveLength(1);
    callers.backend.last.leave();
    await expect(leaving).rejects.toThrow('enough');
    await settled();
    expect(callers.backend.entries).toHaveLength(2);
    callers.backend.last.grant();
    await settled();
    expect(callers.told.at(-1)).toBe('next: granted');
  });

  it('rejects, too, when another caller queues and gives up while the contender leaves', async () => {
    const callers = startCallers();
    callers.backend.leavesAtOnce = false;
    const [first, second] = [new AbortController(), new AbortController()];
    void callers.ask('first', { signal: first.signal }).catch(() => {});
    await settled();
    first.abort(new Error('enough'));
    void callers.ask('second', { signal: second.signal }).catch(() => {});
    await settled();
    second.abort(new Error('me too'));
    await settled();
    callers.backend.last.leave();
    await settled();
    expect(callers.told.toSorted()).toEqual(['first: Error: enough', 'second: Error: me too']);
    expect(callers.forgot()).toBe(true);
  });

  it('leaves a grant that crosses its abort to a caller that queued meanwhile', async () => {
    const { callers, leaving, giveUp } = await lastWaiter();
    giveUp();
    void callers.ask('next');
    callers.backend.last.grant();
    await expect(leaving).rejects.toThrow('enough');
    await settled();
    expect(callers.told.toSorted()).toEqual(['leaving: Error: enough', 'next: granted']);
    await callers.lease('next').release();
    expect(callers.backend.standing).toEqual([]);
  });

  it('gives a grant back that crosses its abort, before it rejects', async () => {
    const { callers, leaving, giveUp } = await lastWaiter();
    const { promise: givingBack, resolve } = deferred();
    callers.backend.last.givingBack = givingBack;
    giveUp();
    callers.backend.last.grant();
    await settled();
    expect(callers.told).toEqual([]);
    resolve();
    await expect(leaving).rejects.toThrow('enough');
    expect(callers.backend.standing).toEqual([]);
    expect(callers.forgot()).toBe(true);
  });

  it('rejects after a grant that was lost on its way is given back, when another caller has queued', async () => {
    const { callers, leaving, giveUp } = await lastWaiter();
    const { promise: givingBack, resolve } = deferred();
    const first = callers.backend.last;
    first.givingBack = givingBack;
    giveUp();
    void callers.ask('next');
    first.grant();
    first.lose();
    await settled();
    expect(callers.told).toEqual([]);
    resolve();
    await expect(leaving).rejects.toThrow('enough');
    callers.backend.last.grant();
    await settled();
    await callers.lease('next').release();
    expect(callers.backend.standing).toEqual([]);
  });
});

describe('a caller that only tries', () => {
  it('sends one request when no other caller of this process is there', async () => {
    const callers = startCallers();
    const trying = callers.ask('try', { waitMs: 0 });
    expect(callers.backend.last.request.wait).toBe(false);
    callers.backend.last.decline();
    expect(await trying).toBeNull();
    expect(callers.forgot()).toBe(true);
  });

  it('is granted the key when it is free, and waiters follow', async () => {
    const callers = startCallers();
    void callers.ask('try', { waitMs: 0 });
    void callers.ask('waiter');
    await settled();
    expect(callers.backend.entries).toHaveLength(1);
    callers.backend.last.grant();
    await settled();
    expect(callers.told).toEqual(['try: granted']);
    await callers.lease('try').release();
    await settled();
    expect(callers.told).toEqual(['try: granted', 'waiter: granted']);
  });

  it('is joined, as a reader, by readers that queued during its request', async () => {
    const callers = startCallers();
    void callers.ask('try', { waitMs: 0, mode: 'read' });
    void callers.ask('reader', { mode: 'read' });
    callers.backend.last.grant();
    await settled();
    expect(callers.told.toSorted()).toEqual(['reader: granted', 'try: granted']);
    expect(callers.backend.entries).toHaveLength(1);
  });

  it('is followed by a waiting contender when its request is refused', async () => {
    const callers = startCallers();
    const trying = callers.ask('try', { waitMs: 0 });
    void callers.ask('waiter');
    callers.backend.last.decline();
    expect(await trying).toBeNull();
    await settled();
    expect(callers.backend.entries.map(({ request }) => request.wait)).toEqual([false, true]);
  });

  it.each(['while one holds', 'while one waits'])('neither waits nor disturbs %s', async (when) => {
    const callers = startCallers();
    void callers.ask('first');
    await settled();
    if (when === 'while one holds') callers.backend.last.grant();
    await settled();
    expect(await callers.ask('try', { waitMs: 0 })).toBeNull();
    expect(callers.backend.entries).toHaveLength(1);
    if (when !== 'while one holds') callers.backend.last.grant();
    await settled();
    expect(callers.lease('first').isHeld()).toBe(true);
  });

  it('gets its answer from an earlier try that is granted', async () => {
    const callers = startCallers();
    const tries = ['first', 'second'].map((name) => callers.ask(name, { waitMs: 0 }));
    await settled();
    expect(callers.backend.entries).toHaveLength(1);
    callers.backend.last.grant();
    expect((await Promise.all(tries)).map((lease) => lease === null)).toEqual([false, true]);
    expect(callers.backend.entries).toHaveLength(1);
  });

  it('sends its own request when an earlier try was refused', async () => {
    const callers = startCallers();
    const tries = ['first', 'second'].map((name) => callers.ask(name, { waitMs: 0 }));
    callers.backend.last.decline();
    await settled();
    callers.backend.last.grant();
    expect((await Promise.all(tries)).map((lease) => lease === null)).toEqual([true, false]);
  });

  it('does not overtake waiters when the key is handed over', async () => {
    const callers = startCallers();
    for (const name of ['a', 'b']) void callers.ask(name);
    await settled();
    callers.backend.last.grant();
    await settled();
    const releasing = callers.lease('a').release();
    expect(await callers.ask('try', { waitMs: 0 })).toBeNull();
    await releasing;
    await settled();
    expect(callers.told).toContain('b: granted');
  });

  it('alone rejects with an error of the backend', async () => {
    const callers = startCallers();
    const trying = callers.ask('try', { waitMs: 0 });
    void callers.ask('waiter');
    callers.backend.last.refuse(new LockUnavailableError('no server', { key: 'k' }));
    await expect(trying).rejects.toThrow(LockUnavailableError);
    await settled();
    callers.backend.last.grant();
    await settled();
    expect(callers.told.at(-1)).toBe('waiter: granted');
  });
});

describe('an error of the backend', () => {
  it('rejects all callers that queued before the contender, and none that queued later', async () => {
    const callers = startCallers();
    const error = new LockUnavailableError('no server', { key: 'k' });
    void callers.ask('first');
    await settled();
    callers.backend.last.grant();
    await settled();
    const asked = [callers.ask('a'), callers.ask('b')];
    // The first contender is lost, so another one is created for `a` and `b`. `c` and `d` queue later.
    callers.backend.last.lose();
    asked.push(callers.ask('c'), callers.ask('d'));
    const outcomes = Promise.allSettled(asked);
    callers.backend.last.refuse(error);
    await settled();
    expect(callers.told).toEqual(['first: granted', `a: ${String(error)}`, `b: ${String(error)}`]);
    expect(callers.backend.entries).toHaveLength(3);
    callers.backend.last.grant();
    await settled();
    await callers.lease('c').release();
    expect((await outcomes).map(({ status }) => status)).toEqual(['rejected', 'rejected', 'fulfilled', 'fulfilled']);
  });

  it('leaves nothing behind', async () => {
    const callers = startCallers();
    const asking = callers.ask('a');
    callers.backend.last.refuse(new Error('no'));
    await expect(asking).rejects.toThrow('no');
    await settled();
    expect(callers.forgot()).toBe(true);
  });

  it('is explained as the backend explains the end of a wait', async () => {
    const callers = startCallers();
    const explained = new LockUnavailableError('cut off', { key: 'k' });
    const explain = (reason: unknown) => (reason instanceof LockTimeoutError ? explained : reason);
    Object.assign(callers.backend, { explain });
    void callers.ask('patient');
    await expect(callers.acquire({ waitMs: 1 })).rejects.toBe(explained);
  });
});
