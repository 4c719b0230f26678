import assert from 'node:assert/strict';
import type { CampaignRequest, Elections, Sighting, WonElection } from '../../contract/elections.js';
import type { LockBackend } from '../../contract/lock-backend.js';
import { checksOf } from './contract-check.js';
import { unwatched } from './contract-stage.js';
import type { ContractStage } from './contract-stage.js';

const NEVER = new AbortController().signal;

/** One election, as its participants see it. */
class Election {
  readonly #stage: ContractStage;

  constructor(stage: ContractStage) {
    this.#stage = stage;
  }

  campaign(client: LockBackend, changes: Partial<CampaignRequest> = {}): Promise<WonElection | null> {
    const { key } = this.#stage;
    const request = { key, mode: 'exclusive', line: 'fifo', wait: true, signal: NEVER } as const;
    return unwatched(electionsOf(client).campaign({ ...request, ...changes }));
  }

  async won(client: LockBackend, changes: Partial<CampaignRequest> = {}): Promise<WonElection> {
    const won = await this.#stage.within(this.campaign(client, changes), 'the end of an election');
    assert.ok(won, 'campaign() resolves with null although nobody leads, or the candidate waits');
    return won;
  }

  look(client: LockBackend): Promise<Sighting> {
    return this.#stage.within(electionsOf(client).look(this.#stage.key, NEVER), 'look()');
  }

  /** Resolves with the first sighting that fulfils the condition. */
  async seen(client: LockBackend, isIt: (sighting: Sighting) => boolean, what: string): Promise<Sighting> {
    const look = async (): Promise<Sighting> => {
      const sighting = await electionsOf(client).look(this.#stage.key, NEVER);
      if (isIt(sighting)) return sighting;
      await sighting.changed(NEVER);
      return look();
    };
    return this.#stage.within(look(), what);
  }
}

function electionsOf({ elections }: LockBackend): Elections {
  assert.ok(elections);
  return elections;
}

/** The checks for backends that hold elections. */
export const ELECTIONS = checksOf('elections', {
  'have one leader at a time, and then the next candidate': async (stage) => {
    if (!stage.one.elections) return;
    const election = new Election(stage);
    const { lease } = await election.won(stage.one);
    assert.equal(
      await stage.within(election.campaign(stage.other, { wait: false }), 'an answer'),
      null,
      'a second leader',
    );
    const next = election.campaign(stage.other);
    await stage.within(lease.release(), 'release()');
    const won = await stage.within(next, 'the turn of the next candidate');
    assert.ok(won && won.lease.isHeld() && won.lease.fencingToken > lease.fencingToken);
  },

  'name the leader, and what it proclaims': async (stage) => {
    if (!stage.one.elections) return;
    const election = new Election(stage);
    assert.equal((await election.look(stage.other)).leader, null);
    const { lease, proclaim } = await election.won(stage.one, { label: 'me', value: 'first' });
    const seen = await election.seen(stage.other, ({ leader }) => leader !== null, 'the leader, as others see it');
    const { id, value, fencingToken, isOwn } = seen.leader ?? {};
    assert.deepEqual([id, value, fencingToken, isOwn], ['me', 'first', lease.fencingToken, stage.isLocal]);
    assert.equal((await election.look(stage.one)).leader?.isOwn, true);
    await stage.within(proclaim('second'), 'proclaim()');
    await election.seen(stage.other, ({ leader }) => leader?.value === 'second', 'what was proclaimed');
    await stage.within(lease.release(), 'release()');
    await election.seen(stage.other, ({ leader }) => leader === null, 'that nobody leads any more');
  },

  'let go of a candidate that gives up, with its own reason': async (stage) => {
    if (!stage.one.elections) return;
    const election = new Election(stage);
    const { lease } = await election.won(stage.one);
    const [leaving, reason] = [new AbortController(), new Error('gave up')];
    const asked = election.campaign(stage.other, { signal: leaving.signal });
    leaving.abort(reason);
    await assert.rejects(stage.within(asked, 'the end of an aborted campaign'), (error) => error === reason);
    await stage.within(lease.release(), 'release()');
    await election.won(stage.one);
  },

  'are none of the locks of that name': async (stage) => {
    if (!stage.one.elections) return;
    await stage.hold(stage.one);
    await new Election(stage).won(stage.other);
  },
});
