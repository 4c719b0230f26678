import assert from 'node:assert/strict';
import { setTimeout as pause } from 'node:timers/promises';
import { LockUnavailableError } from '../../contract/errors.js';
import type { GrantedLease } from '../../contract/granted-lease.js';
import type { RecordChange, RecordStore, StoredRecord } from '../../contract/record-store.js';
import { faultChecksOf } from './fault-check.js';
import type { FaultStage } from './fault-stage.js';
import { GivenUp } from './witness.js';

/** A backend may need several requests for one call. Each is tried as the one whose reply is lost. */
const MOST_ATTEMPTS = 16;
/** A call that neither ends nor is executed within this time has lost an earlier reply. */
const ATTEMPT_MS = 3_000;
const LOOK_EVERY_MS = 3;

/** A call of which a reply is to be lost. It is made again on failure, with another reply. */
interface Losing<T> {
  readonly begin: (attempt: number) => Promise<T>;
  /** Whether the server has executed the call. */
  readonly isDone: (attempt: number) => Promise<boolean>;
  /** Makes the next attempt possible, when the call has come to its end or has not been executed. */
  readonly undo: (call: Promise<T>) => Promise<unknown>;
}

/**
 * Makes a call that the server executes, and of which the client gets no reply. The link then works again.
 * @returns the call, in an object because it has not ended
 */
async function losing<T>(stage: FaultStage, { begin, isDone, undo }: Losing<T>): Promise<{ call: Promise<T> }> {
  for (let attempt = 0; attempt < MOST_ATTEMPTS; attempt++) {
    await stage.until(() => stage.one.backend.state === 'connected', 'a connection');
    // Twice each: the first use of a call may take one more request than the next.
    stage.proxy.swallowReplies(Math.floor(attempt / 2));
    const call = begin(attempt);
    let hasEnded = false;
    const ended = () => (hasEnded = true);
    call.then(ended, ended);
    const end = performance.now() + ATTEMPT_MS;
    while (!hasEnded && performance.now() < end) {
      if ((await isDone(attempt)) && stage.proxy.hasLostReplies) {
        stage.proxy.heal();
        return { call };
      }
      await pause(LOOK_EVERY_MS);
    }
    stage.proxy.heal();
    await undo(call);
  }
  return assert.fail('no reply could be lost after the server had executed the request');
}

/** Resolves with the result of a call, or with `undefined` when the backend says that it cannot be known. */
function resultOf<T>(stage: FaultStage, call: Promise<T>): Promise<T | undefined> {
  return stage.within(call, 'the end of a call').catch((error: unknown) => {
    if (error instanceof LockUnavailableError) return undefined;
    throw error;
  });
}

const long = (play: (stage: FaultStage) => Promise<void>) => ({ sessions: 'long', play }) as const;

const release = (stage: FaultStage) => async (call: Promise<GrantedLease | null>) => {
  await stage.within((await stage.granted(call)).release(), 'release()');
  await stage.standing(0);
};

/** A write whose reply is lost, and writes of others after which its condition holds again. */
interface Undone {
  readonly ifVersion: 'absent' | 0;
  readonly value: string | undefined;
  readonly meanwhile: readonly (string | undefined)[];
}

/** Others undo the write before its client can send it again. */
const undoneByOthers = ({ ifVersion, value, meanwhile }: Undone) =>
  long(async (stage) => {
    const [mine, others] = [stage.one.backend.records, stage.other.backend.records];
    let name = '';
    let left: StoredRecord | undefined;
    let isBegun = false;
    let isUndone = false;
    const { call } = await losing(stage, {
      begin: async (attempt) => {
        name = `${stage.key}/${attempt}`;
        isBegun = isUndone = false;
        if (ifVersion === 0) await others.write([{ name, value: 'before' }]);
        // Until now, a record that is to be removed is missing as well.
        isBegun = true;
        return mine.write([{ name, value, ifVersion }]);
      },
      isDone: async () => {
        if (isUndone || !isBegun || !stage.proxy.hasLostReplies || !(await isWritten(others, { name, value })))
          return isUndone;
        for (const other of meanwhile) await others.write([{ name, value: other }]);
        left = await others.read(name);
        isUndone = true;
        return isUndone;
      },
      undo: (written) => resultOf(stage, written),
    });
    assert.notEqual((await resultOf(stage, call))?.isApplied, false, 'an applied write is said not to be applied');
    assert.deepEqual(await stage.within(others.read(name), 'a read'), left, 'a write is applied twice');
  });

async function isWritten(records: RecordStore, { name, value }: RecordChange): Promise<boolean> {
  return (await records.read(name))?.value === value;
}

const contenders = (stage: FaultStage, count: number) => async () => (await stage.line()).length === count;

export const LOST_REPLIES = faultChecksOf('a reply that is lost', {
  'of a grant: the request resolves, and holds once': long(async (stage) => {
    const { call } = await losing(stage, {
      begin: () => stage.ask(stage.one),
      isDone: contenders(stage, 1),
      undo: release(stage),
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
      undo: release(stage),
    });
    assert.equal((await stage.granted(call, 'a lease')).isHeld(), true);
    assert.equal((await stage.line()).length, 1);
  }),

  'of a request that waits: it keeps its place': long(async (stage) => {
    const first = await stage.hold(stage.other);
    let leaving = new AbortController();
    const { call } = await losing(stage, {
      begin: () => stage.ask(stage.one, {}, (leaving = new AbortController())),
      isDone: contenders(stage, 2),
      undo: async (asked) => {
        leaving.abort(new GivenUp());
        await stage.within(asked, 'the end of a request').catch(() => {});
        await stage.standing(1);
      },
    });
    const third = stage.ask(stage.other);
    await stage.standing(3);
    await stage.within(first.release(), 'release()');
    await (await stage.granted(call)).release();
    await stage.granted(third);
  }),

  'of a release: the key is free, once': long(async (stage) => {
    let lease = await stage.hold(stage.one);
    const { call } = await losing(stage, {
      begin: () => lease.release(),
      isDone: contenders(stage, 0),
      undo: async () => {
        await stage.standing(0);
        lease = await stage.hold(stage.one);
      },
    });
    const next = await stage.hold(stage.other);
    await stage.within(call, 'release()');
    assert.equal(next.isHeld(), true);
    assert.equal(await stage.within(stage.ask(stage.one, { wait: false }), 'a refusal'), null);
  }),

  'of a request that is given up meanwhile: nothing is left behind': long(async (stage) => {
    const leaving = new AbortController();
    stage.proxy.swallowReplies();
    const asked = stage.ask(stage.one, {}, leaving);
    await stage.standing(1);
    const reason = new GivenUp('gave up');
    leaving.abort(reason);
    stage.proxy.heal();
    await assert.rejects(stage.within(asked, 'the end of a request that is given up'), reason);
    await stage.hold(stage.other);
  }),

  'of a write of a record: it is applied once': long(async (stage) => {
    const [mine, others] = [stage.one.backend.records, stage.other.backend.records];
    let name = '';
    const { call } = await losing(stage, {
      begin: async (attempt) => {
        name = `${stage.key}/${attempt}`;
        return mine.write([{ name, value: '1', ifVersion: 'absent' }]);
      },
      isDone: async () => (await others.read(name))?.value === '1',
      undo: (written) => resultOf(stage, written),
    });
    assert.notEqual((await resultOf(stage, call))?.isApplied, false, 'an applied write is said not to be applied');
    assert.equal((await stage.within(others.read(name), 'a read'))?.version, 0);
  }),

  'of a write of a record that others overwrite: it is not made again': long(async (stage) => {
    const [mine, others] = [stage.one.backend.records, stage.other.backend.records];
    let name = '';
    let isOverwritten = false;
    const { call } = await losing(stage, {
      begin: async (attempt) => {
        name = `${stage.key}/${attempt}`;
        return mine.write([{ name, value: '1', ifVersion: 'absent' }]);
      },
      isDone: async () => {
        if ((await others.read(name))?.value !== '1' || !stage.proxy.hasLostReplies) return isOverwritten;
        isOverwritten = (await others.write([{ name, value: '2' }])).isApplied;
        return isOverwritten;
      },
      undo: (written) => resultOf(stage, written),
    });
    assert.notEqual((await resultOf(stage, call))?.isApplied, false, 'an applied write is said not to be applied');
    assert.equal((await stage.within(others.read(name), 'a read'))?.value, '2');
  }),

  'of a write that makes a record, which others remove: it is not made again': undoneByOthers({
    ifVersion: 'absent',
    value: '1',
    meanwhile: [undefined],
  }),

  'of a write that changes a record, which others make anew: it is not made again': undoneByOthers({
    ifVersion: 0,
    value: '1',
    meanwhile: [undefined, '2'],
  }),

  'of a write that removes a record, which others make anew: it is not made again': undoneByOthers({
    ifVersion: 0,
    value: undefined,
    meanwhile: ['2'],
  }),

  'of items that are put: they are in the queue once': long(async (stage) => {
    const [mine, others] = [stage.one.backend.coordination?.queues, stage.other.backend.coordination?.queues];
    if (!mine || !others) return;
    const { signal } = new AbortController();
    let key = '';
    const { call } = await losing(stage, {
      begin: (attempt) => {
        key = `${stage.key}/${attempt}`;
        return mine.put({ key, payloads: [Buffer.from('item')], wait: false, signal });
      },
      isDone: async () => (await others.size(key, signal)) === 1,
      undo: (put) => resultOf(stage, put),
    });
    assert.notEqual(await resultOf(stage, call), false, 'items that were put are said not to be');
    assert.equal(await stage.within(others.size(key, signal), 'a size'), 1);
  }),
});
