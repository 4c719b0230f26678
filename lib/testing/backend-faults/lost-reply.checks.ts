import assert from 'node:assert/strict';
import { LockTimeoutError, LockUnavailableError } from '../../contract/errors.js';
import type { StoredRecord } from '../../contract/record-store.js';
import { faultChecksOf } from './fault-check.js';
import type { FaultStage } from './fault-stage.js';
import { GivenUp } from './witness.js';

/** A call of which the reply is to be late or lost. */
interface Losing<T> {
  readonly begin: () => Promise<T>;
  /** Whether the server has executed the call. */
  readonly isDone: () => Promise<boolean>;
  /** The actions of other clients, and of the caller, before the link works again. */
  readonly meanwhile?: () => Promise<void>;
  /** Whether the reply arrives when the link works again. Default: it is lost */
  readonly isLate?: boolean;
}

/**
 * Makes a call that the server executes, and of which the client gets no reply. The link then works again.
 * @returns the call, in an object because it has not ended
 */
async function losing<T>(
  stage: FaultStage,
  { begin, isDone, meanwhile, isLate = false }: Losing<T>,
): Promise<{ call: Promise<T> }> {
  stage.proxy.blackHole('toClient');
  const call = begin();
  let hasEnded = false;
  const ended = () => (hasEnded = true);
  call.then(ended, ended);
  await stage.until(async () => {
    const lookedAt = performance.now();
    if (await isDone()) return true;
    // A call may take several requests. What came before the look is not the reply of what was executed after it.
    stage.proxy.blackHole('toClient', lookedAt);
    return false;
  }, 'the execution of a call');
  if (!isLate) {
    stage.proxy.swallowReplies();
    await stage.until(() => stage.proxy.hasLostReplies, 'a reply that is lost');
  }
  assert.equal(hasEnded, false, 'the reply of the call was not lost');
  await meanwhile?.();
  stage.proxy.heal();
  return { call };
}

/** Resolves with the result of a call, or with `undefined` when the backend says that it cannot be known. */
function resultOf<T>(stage: FaultStage, call: Promise<T>): Promise<T | undefined> {
  return stage.within(call, 'the end of a call').catch((error: unknown) => {
    if (error instanceof LockUnavailableError) return undefined;
    throw error;
  });
}

const long = (play: (stage: FaultStage) => Promise<void>) => ({ sessions: 'long', play }) as const;

/** A write whose reply is lost, and writes of others before its client can send it again. */
interface Overtaken {
  readonly ifVersion: 'absent' | 0;
  readonly value: string | undefined;
  readonly meanwhile: readonly (string | undefined)[];
}

/** An applied write is not said to be refused, and changes nothing that others wrote after it. */
const overtaken = ({ ifVersion, value, meanwhile }: Overtaken) =>
  long(async (stage) => {
    const [mine, others] = [stage.one.backend.records, stage.other.backend.records];
    const name = stage.key;
    if (ifVersion === 0) await others.write([{ name, value: 'before' }]);
    let left: StoredRecord | undefined;
    const { call } = await losing(stage, {
      begin: () => mine.write([{ name, value, ifVersion }]),
      isDone: async () => (await others.read(name))?.value === value,
      meanwhile: async () => {
        for (const other of meanwhile) await others.write([{ name, value: other }]);
        left = await others.read(name);
      },
    });
    assert.notEqual((await resultOf(stage, call))?.isApplied, false, 'an applied write is said not to be applied');
    assert.deepEqual(await stage.within(others.read(name), 'a read'), left, 'a write is applied twice');
  });

/** A put whose time runs out when the server has executed it, and before its reply arrives. */
const overdue = (reply: 'late' | 'lost') =>
  long(async (stage) => {
    const [mine, others] = [stage.one.backend.coordination?.queues, stage.other.backend.coordination?.queues];
    if (!mine || !others) return;
    const { key } = stage;
    const limit = new AbortController();
    const { signal } = new AbortController();
    const { call } = await losing(stage, {
      begin: () => mine.put({ key, payloads: [Buffer.from('item')], maxItems: 1, wait: true, signal: limit.signal }),
      isDone: async () => (await others.size(key, signal)) === 1,
      meanwhile: async () => limit.abort(new LockTimeoutError(key, 1)),
      isLate: reply === 'late',
    });
    const result = await resultOf(stage, call);
    if (reply === 'late') assert.equal(result, true, 'an item that was put is said to be in doubt');
    else assert.notEqual(result, false, 'an item that was put is said not to be');
    assert.equal(await stage.within(others.size(key, signal), 'a size'), 1);
  });

/** One write of a client, and what another client needs to see it. */
interface Unanswered {
  readonly write: () => Promise<unknown>;
  readonly isWritten: () => Promise<boolean>;
}

/** A write that is applied, and that the servers do not answer until its time is over. */
const unanswered = (writeOn: (stage: FaultStage) => Unanswered | undefined) =>
  long(async (stage) => {
    const { write, isWritten } = writeOn(stage) ?? {};
    if (!write || !isWritten) return;
    let writing: Promise<unknown> | undefined;
    await losing(stage, {
      begin: () => (writing = write()),
      isDone: isWritten,
      meanwhile: async () => {
        const ended = stage.within(writing as Promise<unknown>, 'the end of a write');
        await assert.rejects(ended, { code: 'LOCK_UNAVAILABLE', message: /not known/ });
      },
    });
  });

const contenders = (stage: FaultStage, count: number) => async () => (await stage.line()).length === count;

export const LOST_REPLIES = faultChecksOf('a reply that is lost', {
  'of a grant: the request resolves, and holds once': long(async (stage) => {
    const { call } = await losing(stage, {
      begin: () => stage.ask(stage.one),
      isDone: contenders(stage, 1),
    });
    const lease = await stage.granted(call, 'a lease');
    assert.deepEqual(
      (await stage.line()).map(({ state }) => state),
      ['held'],
    );
    await stage.within(lease.release(), 'release()');
    await stage.hold(stage.other);
  }),

  'of a grant without waiting: the request resolves with the lease': long(async (stage) => {
    const { call } = await losing(stage, {
      begin: () => stage.ask(stage.one, { wait: false }),
      isDone: contenders(stage, 1),
    });
    assert.equal((await stage.granted(call, 'a lease')).isHeld(), true);
    assert.equal((await stage.line()).length, 1);
  }),

  'of a request that waits: it keeps its place': long(async (stage) => {
    const first = await stage.hold(stage.other);
    const { call } = await losing(stage, { begin: () => stage.ask(stage.one), isDone: contenders(stage, 2) });
    const third = stage.ask(stage.other);
    await stage.standing(3);
    await stage.within(first.release(), 'release()');
    await (await stage.granted(call)).release();
    await stage.granted(third);
  }),

  'of a release: the key is free, once': long(async (stage) => {
    const lease = await stage.hold(stage.one);
    const { call } = await losing(stage, { begin: () => lease.release(), isDone: contenders(stage, 0) });
    const next = await stage.hold(stage.other);
    await stage.within(call, 'release()');
    assert.equal(next.isHeld(), true);
    assert.equal(await stage.within(stage.ask(stage.one, { wait: false }), 'a refusal'), null);
  }),

  'of a request that is given up meanwhile: nothing is left behind': long(async (stage) => {
    const leaving = new AbortController();
    const reason = new GivenUp('gave up');
    const { call } = await losing(stage, {
      begin: () => stage.ask(stage.one, {}, leaving),
      isDone: contenders(stage, 1),
      meanwhile: async () => leaving.abort(reason),
    });
    await assert.rejects(stage.within(call, 'the end of a request that is given up'), reason);
    await stage.hold(stage.other);
  }),

  'of a write of a record: it is applied once': overtaken({ ifVersion: 'absent', value: '1', meanwhile: [] }),

  'of a write of a record that others overwrite: it is not made again': overtaken({
    ifVersion: 'absent',
    value: '1',
    meanwhile: ['2'],
  }),

  'of a write that makes a record, which others remove: it is not made again': overtaken({
    ifVersion: 'absent',
    value: '1',
    meanwhile: [undefined],
  }),

  'of a write that changes a record, which others make anew: it is not made again': overtaken({
    ifVersion: 0,
    value: '1',
    meanwhile: [undefined, '2'],
  }),

  'of a write that removes a record, which others make anew: it is not made again': overtaken({
    ifVersion: 0,
    value: undefined,
    meanwhile: ['2'],
  }),

  'of a write of a record, until its time is over: the error says that it is not known whether it was made': unanswered(
    ({ one, other, key: name }) => ({
      write: () => one.backend.records.write([{ name, value: '1' }]),
      isWritten: async () => (await other.backend.records.read(name)) !== undefined,
    }),
  ),

  'of a write of a value, until its time is over: the error says that it is not known whether it was made': unanswered(
    ({ one, other, key }) => {
      const [mine, others] = [one.backend.coordination?.cells, other.backend.coordination?.cells];
      if (!mine || !others) return undefined;
      const { signal } = new AbortController();
      return {
        write: () => mine.write(key, { data: Buffer.from('1') }, signal),
        isWritten: async () => (await others.read(key, signal)) !== undefined,
      };
    },
  ),

  'of items that are put: they are in the queue once': long(async (stage) => {
    const [mine, others] = [stage.one.backend.coordination?.queues, stage.other.backend.coordination?.queues];
    if (!mine || !others) return;
    const { signal } = new AbortController();
    const { key } = stage;
    const { call } = await losing(stage, {
      begin: () => mine.put({ key, payloads: [Buffer.from('item')], wait: false, signal }),
      isDone: async () => (await others.size(key, signal)) === 1,
    });
    assert.notEqual(await resultOf(stage, call), false, 'items that were put are said not to be');
    assert.equal(await stage.within(others.size(key, signal), 'a size'), 1);
  }),

  'of items whose time has run out: it is not said that there was no room': overdue('lost'),

  'of items whose time has run out, and comes late: the call resolves': overdue('late'),
});
