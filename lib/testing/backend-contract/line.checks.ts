import assert from 'node:assert/strict';
import { getEventListeners } from 'node:events';
import type { GrantedLease } from '../../contract/granted-lease.js';
import { checksOf } from './contract-check.js';
import { unwatched } from './contract-stage.js';
import type { ContractStage } from './contract-stage.js';

/** Adds a contender that waits behind all present ones. */
async function waiter(stage: ContractStage, turn: number, ahead: number) {
  const leaving = new AbortController();
  const asked = stage.ask(stage.client(turn), { signal: leaving.signal, label: `waiter ${turn}` });
  await stage.standing(ahead + 1);
  return { asked, leaving };
}

async function reasonOf(stage: ContractStage, asked: Promise<GrantedLease | null>): Promise<unknown> {
  const ended = asked.then(
    () => assert.fail('a wait that was aborted got the key'),
    (reason: unknown) => reason,
  );
  return stage.within(ended, 'the end of an aborted wait');
}

export const LINE = checksOf('the line', {
  'serves in the order of arrival': async (stage) => {
    const first = await stage.hold(stage.one);
    const order: number[] = [];
    const waits = [];
    for (let turn = 0; turn < 4; turn++) {
      const { asked } = await waiter(stage, turn, turn + 1);
      waits.push(unwatched(asked.then((lease) => (order.push(turn), lease?.release()))));
    }
    await stage.within(first.release(), 'release()');
    await stage.within(Promise.all(waits), 'every turn');
    assert.deepEqual(order, [0, 1, 2, 3]);
  },

  'grants nothing to a waiting request before the key is given back': async (stage) => {
    const first = await stage.hold(stage.one);
    let isGranted = false;
    const { asked } = await waiter(stage, 1, 1);
    const granted = unwatched(asked.then(() => (isGranted = true)));
    await stage.lull();
    assert.equal(isGranted, false);
    await stage.within(first.release(), 'release()');
    await stage.within(granted, 'the hand-over');
  },

  'keeps no place for a request that does not wait': async (stage) => {
    const lease = await stage.hold(stage.one);
    assert.equal(await stage.tryFor(stage.other), null);
    await stage.standing(1);
    await stage.within(lease.release(), 'release()');
    await stage.standing(0);
    await stage.hold(stage.one);
  },

  'grants a key that its holder only keeps to a request that does not wait': async (stage) => {
    const lease = await stage.hold(stage.one, { keeps: true });
    // Without `demand` a process keeps no key that another one may want.
    if (!lease.demand) return;
    lease.demand.watch(
      () => void unwatched(lease.release()),
      () => {},
    );
    // On a busy machine the holder may be told too late for the first request.
    let isOver = false;
    const granted = async () => {
      while (!isOver && !(await stage.tryFor(stage.other))) await stage.lull();
    };
    await stage.within(unwatched(granted()), 'a key that is only kept').finally(() => (isOver = true));
  },

  'refuses a key that may be kept and is in use, and leaves no place': async (stage) => {
    const lease = await stage.hold(stage.one, { keeps: true });
    assert.equal(await stage.tryFor(stage.other), null);
    await stage.standing(1);
    assert.equal(lease.isHeld(), true);
  },

  'ends an aborted wait with the caller’s own reason, when it has left the line': async (stage) => {
    await stage.hold(stage.one);
    const { asked, leaving } = await waiter(stage, 1, 1);
    const reason = new Error('the caller’s own');
    leaving.abort(reason);
    assert.equal(await reasonOf(stage, asked), reason);
    assert.equal((await stage.line()).length, 1);
  },

  'hands over past a request that was given up': async (stage) => {
    const lease = await stage.hold(stage.one);
    const impatient = await waiter(stage, 0, 1);
    const patient = await waiter(stage, 1, 2);
    impatient.leaving.abort(new Error('gave up'));
    await reasonOf(stage, impatient.asked);
    await stage.within(lease.release(), 'release()');
    assert.ok(await stage.within(patient.asked, 'the turn of the one that stayed'));
  },

  'does not line up for a signal that has aborted before': async (stage) => {
    const reason = new Error('before');
    const asked = stage.ask(stage.one, { signal: AbortSignal.abort(reason) });
    assert.equal(await reasonOf(stage, asked), reason);
    await stage.standing(0);
  },

  'takes no lease back for a signal that aborts after the grant': async (stage) => {
    const late = new AbortController();
    const lease = await stage.hold(stage.one, { signal: late.signal });
    late.abort();
    assert.equal(lease.isHeld(), true);
    assert.equal(await stage.tryFor(stage.other), null);
  },

  'leaves no listener on the signals': async (stage) => {
    const holding = new AbortController();
    const lease = await stage.hold(stage.one, { signal: holding.signal });
    const { asked, leaving } = await waiter(stage, 0, 1);
    leaving.abort(new Error('over'));
    await reasonOf(stage, asked);
    await stage.within(lease.release(), 'release()');
    for (const { signal } of [holding, leaving]) assert.deepEqual(getEventListeners(signal, 'abort'), []);
  },

  'shows holders and waiters, in order': async (stage) => {
    assert.deepEqual(await stage.line(), []);
    await stage.hold(stage.one, { mode: 'write', label: 'holder' });
    const { leaving, asked } = await waiter(stage, 1, 1);
    const line = await stage.line();
    assert.deepEqual(
      line.map(({ state, mode, owner, isOwn }) => [state, mode, owner.label, isOwn]),
      [
        ['held', 'write', 'holder', true],
        ['waiting', 'exclusive', 'waiter 1', stage.isLocal],
      ],
    );
    assert.ok(line.every(({ since }) => since instanceof Date));
    leaving.abort(new Error('seen'));
    await reasonOf(stage, asked);
  },

  'shows as many holders as it is asked for, and no waiters': async (stage) => {
    if (!stage.one.holdersOf) return;
    assert.deepEqual(await stage.holders(2), []);
    for (const label of ['first', 'second', 'third']) await stage.hold(stage.other, { mode: 'read', label });
    const { leaving, asked } = await waiter(stage, 1, 3);
    const held = await stage.holders(2);
    assert.deepEqual(
      held.map(({ state, mode, owner }) => [state, mode, owner.label]),
      [
        ['held', 'read', 'first'],
        ['held', 'read', 'second'],
      ],
    );
    assert.equal((await stage.holders(20)).length, 3);
    leaving.abort(new Error('seen'));
    await reasonOf(stage, asked);
  },
});
