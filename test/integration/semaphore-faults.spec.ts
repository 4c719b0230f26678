import { describe, expect, inject, it } from 'vitest';
import { ZooKeeperServer } from '../../lib/testing/index.js';
import { OpCode } from '../../lib/zookeeper/wire/codes.js';
import { freshBasePath } from '../support/base-path.js';
import { eventually } from '../support/eventually.js';
import { openReplyThief } from '../support/reply-thief.js';
import { openService } from '../support/services.js';
import { contendersAt, openClient, untilContenders } from '../support/znodes.js';

const connectString = inject('zookeeper');

async function behindThief(sessionTimeoutMs = 4_000) {
  const basePath = freshBasePath();
  const thief = await openReplyThief(connectString);
  const service = await openService({ connectString: thief.connectString, basePath, sessionTimeoutMs });
  const other = await openService({ connectString, basePath });
  const client = await openClient(connectString);
  const [pool, others] = [service, other].map((of) => of.semaphore('pool', { permits: 3 }));
  return {
    thief,
    client,
    pool: pool ?? expect.unreachable(),
    others: others ?? expect.unreachable(),
    leases: `${basePath}/pool/leases`,
    gate: `${basePath}/pool/locks`,
  };
}

describe('permits whose reply was lost', () => {
  it.each([
    ['made', OpCode.multi, true, 3],
    ['not made', OpCode.multi, false, 3],
    ['made, one only', OpCode.create2, true, 1],
    ['not made, one only', OpCode.create2, false, 1],
  ] as const)('are found again or made once more, never twice: %s', async (_, opType, isApplied, permits) => {
    const { thief, pool, others, client, leases, gate } = await behindThief();
    // The directories exist, so the gate's znode is a single create and several permits are one transaction.
    await pool.using(() => {});
    const holder = await others.acquire({ permits: 3 });
    const acquiring = pool.acquire({ permits });
    await untilContenders(client, gate, 1);
    await untilContenders(client, leases, 3 + permits);
    await holder.release();
    await (await acquiring).release();

    const cut = isApplied ? thief.stealNext(opType) : thief.cutBefore(opType);
    const lease = await pool.acquire({ permits });
    await cut;
    expect(await contendersAt(client, leases)).toHaveLength(permits);
    expect(lease.isHeld()).toBe(true);
    await lease.release();
    expect(await untilContenders(client, leases, 0)).toEqual([]);
    expect(await untilContenders(client, gate, 0)).toEqual([]);
  });

  it('are removed when their caller has given up meanwhile', async () => {
    const { thief, pool, client, leases, gate } = await behindThief();
    await pool.using(() => {}, { permits: 2 });
    const abort = new AbortController();
    const cut = thief.stealNext(OpCode.multi);
    const waiting = expect(pool.acquire({ permits: 2, signal: abort.signal })).rejects.toThrow('gave up');
    await cut;
    abort.abort(new Error('gave up'));
    await waiting;
    await untilContenders(client, gate, 0);
    expect(await untilContenders(client, leases, 0)).toEqual([]);
  });
});

describe('a waiter for permits', () => {
  it('keeps its place through a disconnection, and gets the missed events', async () => {
    const { thief, pool, others, client, leases, gate } = await behindThief();
    const holder = await others.acquire({ permits: 3 });
    const waiting = pool.acquire({ permits: 2 });
    const before = await untilContenders(client, leases, 5);
    const [place] = await contendersAt(client, gate);
    thief.isOpen = false;
    await thief.cutBefore(OpCode.multi);
    await holder.release();
    thief.isOpen = true;
    expect((await waiting).isHeld()).toBe(true);
    expect(await contendersAt(client, leases)).toEqual(before.slice(3));
    expect(place).toBeDefined();
  });

  it('is queued again with its next session', async () => {
    const { thief, pool, others, client, leases, gate } = await behindThief(1_000);
    const holder = await others.acquire({ permits: 3 });
    const waiting = pool.acquire({ permits: 2 });
    await untilContenders(client, leases, 5);
    thief.isOpen = false;
    await thief.cutBefore(OpCode.multi);
    await untilContenders(client, leases, 3);
    await untilContenders(client, gate, 0);
    thief.isOpen = true;
    await untilContenders(client, leases, 5);
    await holder.release();
    expect((await waiting).isHeld()).toBe(true);
  });
});

describe('a lease on permits', () => {
  it('is lost with its session on the holder’s clock, before another grant', async () => {
    const { thief, pool, others } = await behindThief(1_000);
    const lease = await pool.acquire({ permits: 3 });
    let wasHeld: boolean | undefined;
    const next = others.acquire().then((granted) => ((wasHeld = lease.isHeld()), granted));
    thief.isOpen = false;
    await thief.cutBefore(OpCode.multi);
    expect((await next).isHeld()).toBe(true);
    expect([wasHeld, lease.state]).toEqual([false, 'lost']);
  });
});

describe('a release', { timeout: 120_000 }, () => {
  it('wakes the first contender at the gate only, and leaves no watch', async () => {
    await using server = await ZooKeeperServer.start();
    const options = { connectString: server.connectString, basePath: freshBasePath(), parents: 'persistent' } as const;
    const services = await Promise.all(Array.from({ length: 10 }, () => openService(options)));
    const client = await openClient(server.connectString);
    const pools = services.map((service) => service.semaphore('pool', { permits: 2 }));
    const [first = expect.unreachable(), ...others] = pools;
    const held = [await first.acquire(), await first.acquire()];
    // A granted caller leaves the gate in the background.
    await untilContenders(client, `${options.basePath}/pool/locks`, 0);
    const waits = [];
    for (const [place, pool] of others.entries()) {
      waits.push(pool.acquire());
      await untilContenders(client, `${options.basePath}/pool/locks`, place + 1);
    }
    await untilContenders(client, `${options.basePath}/pool/leases`, 3);
    const told = async (kind: 'children' | 'deleted') =>
      Number(new RegExp(`^zk_sum_node_${kind}_watch_count\\s+(\\d+)`, 'm').exec(await server.ask('mntr'))?.[1]);
    const before = { children: await told('children'), deleted: await told('deleted') };
    for (const lease of held) await lease.release();
    for (const waiting of waits) await (await waiting).release();
    // The first at the gate is notified of a release. One that leaves the gate notifies the next, the one behind it,
    // and itself.
    const releases = held.length + waits.length;
    expect((await told('children')) - before.children).toBeLessThanOrEqual(releases);
    expect((await told('children')) - before.children).toBeGreaterThan(0);
    expect((await told('deleted')) - before.deleted).toBeLessThanOrEqual(4 * releases);
    const isNoneLeft = async () => /^zk_watch_count\s+0$/m.test(await server.ask('mntr')) || undefined;
    expect(await eventually(isNoneLeft, 'no watch is left')).toBe(true);
  });
});
