import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import type { etcd } from '../../lib/etcd/index.js';
import { EtcdServer, FaultProxy } from '../../lib/testing/index.js';
import type { Edit } from '../support/edit.js';
import { clientsOf, hold, requestFor } from './support/clients.js';
import { freeze, leaderAndFollowers } from './support/cluster.js';
import { planted } from './support/planted.js';

/** Looks for one kind of defect. Resolves to what it has found, or to `undefined`. */
type Check = (make: typeof etcd) => Promise<string | undefined>;

let members: EtcdServer[];

beforeAll(async () => {
  // An isolated leader goes on for as long as an election takes at least. Here it is longer than a stall of the machine.
  members = await EtcdServer.startCluster(3, { flags: { 'election-timeout': 3_000, 'heartbeat-interval': 300 } });
});

afterAll(() => Promise.all(members.map((member) => member.stop())));

const hostsOf = (servers: readonly EtcdServer[]) => servers.map(({ host }) => host);
/** The shortest one of this cluster. */
const TTL_MS = 5_000;

/** A leader without its followers goes on answering whatever needs no majority. */
const believesAnIsolatedLeader: Check = async (make) => {
  const { leader, followers } = await leaderAndFollowers(members);
  const client = clientsOf({ sessionTimeoutMs: TTL_MS }, make).open(leader.host);
  const lease = await hold(client, 'k');
  await freeze(...followers);
  await pause(TTL_MS);
  return lease.isHeld() ? 'a lease is held that no majority has renewed' : undefined;
};

/** The edit that makes answers about leases late. It is no defect: links may be as slow as this. */
const LATE_MS = 2_500;
const LATE: Edit = {
  file: 'etcd/client/etcd-link.ts',
  replace: 'return readLeaseResponse(await this.#call(METHODS.grant, grantRequest(ttl)));',
  by: `const answer = await this.#call(METHODS.grant, grantRequest(ttl));
       await new Promise((resolve) => setTimeout(resolve, ${LATE_MS}));
       return readLeaseResponse(answer);`,
};

/** A client whose lease was answered late, and that is cut off from then on. */
const believesForTooLong: Check = async (make) => {
  // A server alone: where a busy machine brings about an election, old versions end leases that the next leader has renewed.
  const server = await EtcdServer.start();
  onTestFinished(() => server.stop());
  const proxy = await FaultProxy.open(server.port);
  onTestFinished(() => proxy.close());
  const { open } = clientsOf({ sessionTimeoutMs: 6_000 }, make);
  const lease = await hold(open(proxy.connectString), 'k');
  proxy.blackHole();
  const wasHeld = hold(open(server.host), 'k').then(() => lease.isHeld());
  return (await wasHeld) ? 'two leases of one key are held' : undefined;
};

/** A wait whose predecessor gives up, while the holder holds on. */
const takesAnyChangeForItsTurn: Check = async (make) => {
  const { open } = clientsOf({ sessionTimeoutMs: 30_000 }, make);
  const [holder, leaving, last] = [open(hostsOf(members)), open(hostsOf(members)), open(hostsOf(members))];
  const lease = await hold(holder, 'k');
  const lengthOf = async (key: string) => (await holder.lineOf(key)).length;
  const giveUp = new AbortController();
  const given = leaving.acquire(requestFor('k', { signal: giveUp.signal })).catch(() => null);
  await expect.poll(() => lengthOf('k')).toBe(2);
  const wasHeld = hold(last, 'k').then(() => lease.isHeld());
  await expect.poll(() => lengthOf('k')).toBe(3);
  giveUp.abort(new Error('gave up'));
  await given;
  await expect.poll(() => lengthOf('k')).toBe(2);
  // The watches of a client are answered in their order: when this key is granted, the change before it was seen.
  const other = await hold(holder, 'marker');
  const marked = hold(last, 'marker');
  await expect.poll(() => lengthOf('marker')).toBe(2);
  await other.release();
  await marked;
  await lease.release();
  return (await wasHeld) ? 'two leases of one key are held' : undefined;
};

describe.each<{ check: Check; with?: readonly Edit[]; defects: readonly { name: string; edits: readonly Edit[] }[] }>([
  {
    check: believesAnIsolatedLeader,
    defects: [
      {
        name: 'an answered renewal is proof',
        edits: [
          {
            file: 'etcd/session/heartbeat.ts',
            replace: 'const read = await',
            by: 'this.#session.proven(sentAt, renewed.ttl); const read = await',
          },
        ],
      },
      {
        name: 'conditions without a read are proof',
        edits: [
          {
            file: 'etcd/session/heartbeat.ts',
            replace: "const read = await this.#link.range({ kind: 'read', key, only: 'keys' });",
            by: `const compare = [{ key, property: 'created', is: 'less', than: 2 ** 52 }] as const;
                 const { term } = await this.#link.txn({ compare, success: [], failure: [] });
                 const read = { term, found: [key] };`,
          },
        ],
      },
    ],
  },
  {
    check: believesForTooLong,
    with: [LATE],
    defects: [
      {
        name: 'the time to live counts from the answer',
        edits: [
          {
            file: 'etcd/session/etcd-sessions.ts',
            replace: `const provenAt = now();
    const { lease, ttl } = await link.grant(this.#settings.sessionTimeoutMs / 1_000);`,
            by: `const { lease, ttl } = await link.grant(this.#settings.sessionTimeoutMs / 1_000);
    const provenAt = now();`,
          },
        ],
      },
    ],
  },
  {
    check: takesAnyChangeForItsTurn,
    defects: [
      {
        name: 'the last event of the watch is taken for the grant',
        edits: [
          {
            file: 'etcd/locks/queue-view.ts',
            replace: 'if (isDeleted) this.#entries.delete(kv.key);',
            by: 'if (isDeleted) this.wakes = this.#entries.delete(kv.key);',
          },
          {
            file: 'etcd/locks/queue-view.ts',
            replace: 'isTurn: first.has(entry.key)',
            by: 'isTurn: first.has(entry.key) || this.wakes',
          },
        ],
      },
    ],
  },
])('the check "$check.name"', ({ check, with: faults, defects }) => {
  it('finds nothing in the library as it is', async () => {
    const { etcd: sound } = await import('../../lib/etcd/index.js');
    expect(await check(faults ? await planted(faults) : sound)).toBeUndefined();
  });

  it.each(defects)('finds the defect: $name', async ({ edits }) => {
    const make = await planted([...(faults ?? []), ...edits]);
    expect(await check(make)).toEqual(expect.stringContaining('held'));
  });
});
