import assert from 'node:assert/strict';
import type { GrantedLease } from '../../contract/granted-lease.js';
import type { LockBackend } from '../../contract/lock-backend.js';
import type { LockRequest } from '../../contract/lock-request.js';
import { checksOf } from './contract-check.js';
import { unwatched } from './contract-stage.js';
import type { ContractStage } from './contract-stage.js';

const ROUNDS = 10;

type Leases = readonly GrantedLease[] | null;

/** Requests all of the keys below the stage's own. */
function askAll(
  { key }: ContractStage,
  client: LockBackend,
  names: readonly string[],
  changes: Partial<LockRequest> = {},
): Promise<Leases> {
  const { signal } = new AbortController();
  const request = { mode: 'exclusive', line: 'fifo', wait: true, signal, ...changes } as const;
  const asked = client.acquireAll?.(names.map((name) => ({ ...request, key: `${key}/${name}` })));
  return unwatched(asked ?? Promise.resolve(null));
}

async function holdAll(stage: ContractStage, client: LockBackend, names: readonly string[]): Promise<Leases> {
  const leases = await stage.within(askAll(stage, client, names), 'a set of leases');
  assert.equal(leases?.length, names.length, 'acquireAll() resolves without a lease for every key');
  return leases;
}

const give = (leases: Leases) => Promise.all((leases ?? []).map((lease) => lease.release()));

/** The checks for backends that grant sets in one step. */
export const SETS = checksOf('sets of keys', {
  'have a lease for each key, in the order of the requests': async (stage) => {
    if (!stage.one.acquireAll) return;
    const leases = await holdAll(stage, stage.one, ['b', 'a']);
    assert.deepEqual(
      leases?.map(({ key, state }) => [key, state]),
      ['b', 'a'].map((name) => [`${stage.key}/${name}`, 'held']),
    );
    for (const name of ['a', 'b']) {
      const taken = await stage.tryFor(stage.other, { key: `${stage.key}/${name}` });
      assert.equal(taken, null, `"${name}" of a set that is held is granted again`);
    }
    await give(leases);
    await give(await holdAll(stage, stage.other, ['a', 'b']));
  },

  'are granted whole or not at all to a request that does not wait': async (stage) => {
    if (!stage.one.acquireAll) return;
    await stage.hold(stage.other, { key: `${stage.key}/b` });
    const asked = askAll(stage, stage.one, ['a', 'b', 'c'], { wait: false });
    assert.equal(
      await stage.within(asked, 'an answer to a request that does not wait'),
      null,
      'a set with a key that is held',
    );
    for (const name of ['a', 'c']) await stage.hold(stage.other, { key: `${stage.key}/${name}` });
  },

  'leave every line before a wait that was aborted ends': async (stage) => {
    if (!stage.one.acquireAll) return;
    await stage.hold(stage.other, { key: `${stage.key}/b` });
    const leaving = new AbortController();
    const asked = askAll(stage, stage.one, ['a', 'b'], { signal: leaving.signal });
    const reason = new Error('gave up');
    leaving.abort(reason);
    await assert.rejects(stage.within(asked, 'the end of an aborted wait'), (error) => error === reason);
    await stage.hold(stage.other, { key: `${stage.key}/a` });
  },

  'do not wait for each other, in whatever order their keys are named': async (stage) => {
    if (!stage.one.acquireAll) return;
    const ask = async (turn: number) => {
      const names = turn % 2 === 0 ? ['a', 'b', 'c'] : ['c', 'b', 'a'];
      const leases = await askAll(stage, stage.client(turn), names);
      await new Promise(setImmediate);
      await give(leases);
    };
    const all = Promise.all(Array.from({ length: ROUNDS }, (_, turn) => ask(turn)));
    await stage.within(all, 'the turn of every set: they wait for each other');
  },
});
