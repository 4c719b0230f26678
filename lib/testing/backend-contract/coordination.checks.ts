import assert from 'node:assert/strict';
import type { CoordinationBackend, TakenItem } from '../../contract/coordination-backend.js';
import { checksOf } from './contract-check.js';
import { unwatched } from './contract-stage.js';
import type { ContractStage } from './contract-stage.js';

const NEVER = new AbortController().signal;
const NOT_WAITING = { wait: false, signal: NEVER } as const;
const WAITING = { wait: true, signal: NEVER } as const;

/** Returns the queues, barriers and values of both clients; `undefined` where the backend has none. */
function bothOf({ one, other }: ContractStage): readonly [CoordinationBackend, CoordinationBackend] | undefined {
  return one.coordination && other.coordination && [one.coordination, other.coordination];
}

const bytes = (...texts: readonly string[]) => texts.map((text) => Buffer.from(text));
const textsOf = (items: readonly TakenItem[]) => items.map(({ payload }) => payload.toString());

/** The checks for backends that have queues, barriers and shared values. */
export const COORDINATION = checksOf('queues, barriers and shared values', {
  'an item is one taker’s until it is acknowledged, or put back in its place': async (stage) => {
    const [one, other] = bothOf(stage) ?? [];
    if (!one || !other) return;
    const { key } = stage;
    await one.queues.put({ key, payloads: bytes('a', 'b'), ...NOT_WAITING });
    const [first] = await other.queues.take({ key, atMost: 1, ...NOT_WAITING });
    const second = await one.queues.take({ key, atMost: 5, ...NOT_WAITING });
    assert.deepEqual(
      [first, ...second].map((item) => item?.payload.toString()),
      ['a', 'b'],
    );
    assert.deepEqual(await other.queues.take({ key, atMost: 5, ...NOT_WAITING }), []);
    assert.ok(first);
    await stage.within(first.lease.release(), 'release()');
    const [again] = await one.queues.take({ key, atMost: 5, ...NOT_WAITING });
    assert.ok(again, 'an item that was put back is not delivered again');
    assert.deepEqual([again.payload.toString(), again.id], ['a', first.id]);
    await assert.rejects(first.ack(), { code: 'LOCK_LOST' });
    await again.ack();
    assert.equal(
      await other.queues.size(key, NEVER),
      1,
      'an item that is acknowledged is counted, or one that is not is missing',
    );
  },

  'a waiting call gets the first item that comes': async (stage) => {
    const [one, other] = bothOf(stage) ?? [];
    if (!one || !other) return;
    const { key } = stage;
    const taking = unwatched(other.queues.take({ key, atMost: 1, ...WAITING }));
    await one.queues.put({ key, payloads: bytes('a'), ...NOT_WAITING });
    assert.deepEqual(textsOf(await stage.within(taking, 'an item for the waiting call')), ['a']);
  },

  'a queue that is full takes nothing': async (stage) => {
    const [one, other] = bothOf(stage) ?? [];
    if (!one || !other) return;
    const { key } = stage;
    const put = { key, maxItems: 2, ...NOT_WAITING };
    assert.equal(await one.queues.put({ ...put, payloads: bytes('a') }), true);
    assert.equal(await other.queues.put({ ...put, payloads: bytes('b', 'c') }), false);
    assert.equal(await other.queues.size(key, NEVER), 1);
  },

  'a barrier holds up all calls while it is up': async (stage) => {
    const [one, other] = bothOf(stage) ?? [];
    if (!one || !other) return;
    const { key } = stage;
    assert.equal(await one.barriers.pass({ key, ...NOT_WAITING }), true);
    await one.barriers.raise(key, NEVER);
    assert.equal(await other.barriers.pass({ key, ...NOT_WAITING }), false, 'a call passes a barrier that is up');
    const passing = unwatched(other.barriers.pass({ key, ...WAITING }));
    await one.barriers.lift(key, NEVER);
    assert.equal(await stage.within(passing, 'the way past a barrier that was lifted'), true);
  },

  'a double barrier is entered and left together': async (stage) => {
    const [one, other] = bothOf(stage) ?? [];
    if (!one || !other) return;
    const request = { key: stage.key, count: 2, signal: NEVER };
    let isIn = false;
    const first = unwatched(one.barriers.enter(request).then((member) => ((isIn = true), member)));
    await stage.lull();
    assert.equal(isIn, false, 'one of two is in');
    const [a, b] = await stage.within(Promise.all([first, unwatched(other.barriers.enter(request))]), 'the way in');
    let isOut = false;
    const leaving = unwatched(a.leave(NEVER).then(() => (isOut = true)));
    await stage.lull();
    assert.equal(isOut, false, 'one of two is out');
    await stage.within(Promise.all([leaving, b.leave(NEVER)]), 'the way out');
  },

  'a value is written only over what its writer knows': async (stage) => {
    const [one, other] = bothOf(stage) ?? [];
    if (!one || !other) return;
    const { key } = stage;
    const [first, second] = [Buffer.from('1'), Buffer.from('2')];
    assert.equal(await other.cells.read(key, NEVER), undefined);
    assert.deepEqual(await one.cells.write(key, { data: first, ifVersion: 'absent' }, NEVER), {
      isApplied: true,
      version: 0,
    });
    assert.deepEqual(await other.cells.write(key, { data: second, ifVersion: 'absent' }, NEVER), { isApplied: false });
    assert.deepEqual((await other.cells.read(key, NEVER))?.data, first);
    assert.deepEqual(await other.cells.write(key, { data: second, ifVersion: 0 }, NEVER), {
      isApplied: true,
      version: 1,
    });
    assert.deepEqual(await one.cells.write(key, { data: first, ifVersion: 0 }, NEVER), { isApplied: false });
  },

  'a watcher of a value is told of the next': async (stage) => {
    const [one, other] = bothOf(stage) ?? [];
    if (!one || !other) return;
    const { key } = stage;
    await one.cells.write(key, { data: Buffer.from('1') }, NEVER);
    const seen = await other.cells.read(key, NEVER);
    const next = unwatched(other.cells.next(key, seen, NEVER));
    await one.cells.write(key, { data: Buffer.from('2') }, NEVER);
    assert.equal((await stage.within(next, 'the next value'))?.data.toString(), '2');
  },
});
