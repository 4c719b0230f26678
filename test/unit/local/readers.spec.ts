import { describe, expect, it, vi } from 'vitest';
import { deferred } from '../../../lib/async/deferred.js';
import { LockUnavailableError } from '../../../lib/contract/errors.js';
import { MOST_HAND_OVERS } from '../../../lib/contract/granted-lease.js';
import { settled, startCallers } from './callers.js';
import type { CallOptions } from './callers.js';

// The test sets the time.
const clock = vi.hoisted(() => ({ ms: 1_000 }));
vi.mock('../../../lib/async/clock.js', () => ({ now: () => clock.ms }));

const PAST_THE_BOUNDS_MS = 16;
const READ = { mode: 'read' } as const;
const TRY = { ...READ, waitMs: 0 };

/** A reader holds for longer than the time limit of hand-overs. */
async function whileOneReads() {
  const callers = startCallers();
  void callers.ask('inside', READ);
  await settled();
  callers.backend.last.grant();
  await settled();
  clock.ms += PAST_THE_BOUNDS_MS;
  return callers;
}

describe('a reader that arrives while another one holds', () => {
  it('is let in at once while it is not known whether a writer waits', async () => {
    const callers = await whileOneReads();
    callers.backend.last.demand.answering = deferred().promise;
    const asked = ['try', 'waits'].map((name, place) => callers.ask(name, place === 0 ? TRY : READ));
    expect(await Promise.all(asked)).not.toContain(null);
    expect(callers.backend.entries).toHaveLength(1);
  });

  it('lines up behind a writer that waits, and is granted when the writer gives up', async () => {
    const callers = await whileOneReads();
    callers.backend.last.demand.want();
    await callers.acquire(TRY).then((lease) => lease?.release());
    void callers.ask('reader', READ);
    await settled();
    expect(callers.backend.standing).toHaveLength(2);
    callers.backend.last.grant();
    await settled();
    expect(callers.told.at(-1)).toBe('reader: granted');
  });

  it('sends a request to the backend after a writer has waited', async () => {
    const callers = await whileOneReads();
    callers.backend.last.demand.want();
    await callers.acquire(TRY).then((lease) => lease?.release());
    const refused = callers.ask('refused', TRY);
    await settled();
    callers.backend.last.decline();
    expect(await refused).toBeNull();
    const granted = callers.ask('granted', TRY);
    await settled();
    callers.backend.last.grant();
    expect(await granted).not.toBeNull();
    expect(callers.lease('inside').isHeld()).toBe(true);
    expect(await callers.ask('joins', TRY)).not.toBeNull();
    expect(callers.backend.standing).toHaveLength(2);
  });

  it('lines up anew when the numbers of the standing lease are used up', async () => {
    const callers = startCallers();
    void callers.ask('inside', READ);
    await settled();
    callers.backend.last.grant();
    await settled();
    for (let grants = 1; grants < MOST_HAND_OVERS; grants++) {
      await callers.acquire(READ).then((lease) => lease?.release());
    }
    void callers.ask('waits', READ);
    const trying = callers.ask('try', TRY);
    await settled();
    callers.backend.standing.slice(1).forEach((entry) => entry.grant());
    expect(await trying).not.toBeNull();
    await settled();
    expect(callers.told.filter((told) => told.endsWith('granted'))).toHaveLength(3);
    expect(callers.lease('inside').isHeld()).toBe(true);
    await Promise.all(['inside', 'waits', 'try'].map((name) => callers.lease(name).release()));
    await settled();
    expect(callers.backend.standing).toEqual([]);
    expect(callers.forgot()).toBe(true);
  });
});

describe('callers that try at the same time', () => {
  it('share, as readers, what the first of them is granted', async () => {
    const callers = startCallers();
    const tries = ['a', 'b', 'c'].map((name) => callers.ask(name, TRY));
    await settled();
    expect(callers.backend.entries).toHaveLength(1);
    callers.backend.last.grant();
    expect(await Promise.all(tries)).not.toContain(null);
    expect(callers.backend.entries).toHaveLength(1);
  });

  it.each(['exclusive', 'read'] as const)('are each told that the servers are out of reach (%s)', async (mode) => {
    const callers = startCallers();
    const tries = Promise.allSettled(['a', 'b'].map((name) => callers.ask(name, { mode, waitMs: 0 })));
    const cutOff = () => new LockUnavailableError('no server answered', { key: 'k' });
    callers.backend.last.refuse(cutOff());
    expect((await tries).map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    expect(callers.backend.entries).toHaveLength(1);
    expect(callers.forgot()).toBe(true);
  });

  it.each(['exclusive', 'read'] as const)('make two contenders at most, however many they are (%s)', async (mode) => {
    const callers = startCallers();
    const tries = Array.from({ length: 1_000 }, (_, place) => callers.ask(`${place}`, { mode, waitMs: 0 }));
    await settled();
    callers.backend.last.decline();
    await settled();
    callers.backend.last.decline();
    expect(new Set(await Promise.all(tries))).toEqual(new Set([null]));
    expect(callers.backend.entries).toHaveLength(2);
    expect(callers.forgot()).toBe(true);
  });

  it('add no contender while a caller of their process holds', async () => {
    const callers = startCallers();
    void callers.ask('holder');
    await settled();
    callers.backend.last.grant();
    await settled();
    clock.ms += PAST_THE_BOUNDS_MS;
    callers.backend.last.demand.want();
    expect(await callers.acquire({ waitMs: 0 })).toBeNull();
    expect(callers.backend.entries).toHaveLength(1);
  });

  it('delay a waiting caller by one of them at most', async () => {
    const callers = startCallers();
    const keepTrying = async () => {
      while (!callers.told.includes('waits: granted')) {
        const lease = await callers.acquire({ mode: 'read', waitMs: 0 });
        await lease?.release();
      }
    };
    const trying = [keepTrying(), keepTrying()];
    void callers.ask('waits', READ);
    callers.backend.last.decline();
    await settled();
    const [, entry] = callers.backend.entries;
    expect(entry?.request.wait).toBe(true);
    entry?.grant();
    await settled();
    callers.backend.standing.filter(({ lease }) => !lease).forEach((each) => each.decline());
    await Promise.all(trying);
  });

  it('are told by the backend, and not by a caller that waits, while it is out of reach', async () => {
    const callers = startCallers();
    Object.defineProperty(callers.backend, 'state', { value: 'suspended' });
    void callers.ask('waits');
    await settled();
    const trying = callers.ask('try', { waitMs: 0 });
    await settled();
    callers.backend.last.refuse(new LockUnavailableError('no server answered', { key: 'k' }));
    await expect(trying).rejects.toThrow(LockUnavailableError);
  });
});

describe('an unused warm lease', () => {
  const KEPT = { keepMs: 60_000 };

  async function whileItIsKept(asking: CallOptions = {}) {
    const callers = startCallers();
    void callers.ask('first', KEPT);
    await settled();
    callers.backend.last.grant();
    await settled();
    clock.ms += PAST_THE_BOUNDS_MS;
    const answer = deferred();
    callers.backend.last.demand.answering = answer.promise;
    await callers.lease('first').release();
    return { callers, answer, trying: callers.ask('try', { ...KEPT, ...asking, waitMs: 0 }) };
  }

  it('is granted to a caller that tries, once no other process is known to wait', async () => {
    const { callers, answer, trying } = await whileItIsKept();
    await settled();
    expect(callers.told).toEqual(['first: granted']);
    answer.resolve();
    expect(await trying).not.toBeNull();
    expect(callers.backend.entries).toHaveLength(1);
  });

  it('goes to a waiting process, and the caller that tries sends a request', async () => {
    const { callers, trying } = await whileItIsKept();
    callers.backend.last.demand.want();
    await settled();
    expect(callers.backend.standing).toHaveLength(1);
    callers.backend.last.decline();
    expect(await trying).toBeNull();
    expect(callers.forgot()).toBe(true);
  });

  it('leaves no trace of a caller that gives up before that is known', async () => {
    const abort = new AbortController();
    const { callers, trying } = await whileItIsKept({ signal: abort.signal });
    abort.abort(new Error('enough'));
    await expect(trying).rejects.toThrow('enough');
    await callers.admission.local.giveUpKept();
    expect(callers.forgot()).toBe(true);
  });
});

describe('a lease that is suspended', () => {
  it('is still listed with its holder', async () => {
    const callers = startCallers();
    void callers.ask('holder', { label: 'me' });
    await settled();
    const lease = callers.backend.last.grant();
    await settled();
    lease.suspend();
    await settled();
    const line = () => callers.admission.local.find('exclusive', 'k');
    expect(line()?.callers.map(({ state, label }) => ({ state, label }))).toEqual([{ state: 'held', label: 'me' }]);
    void callers.ask('next');
    expect(line()?.callers).toHaveLength(2);
    await callers.lease('holder').release();
    callers.backend.last.grant();
    await settled();
    await callers.lease('next').release();
    expect(callers.forgot()).toBe(true);
  });
});
