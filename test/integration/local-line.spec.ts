import { once } from 'node:events';
import { beforeAll, describe, expect, inject, it, onTestFinished } from 'vitest';
import type { Lease } from '../../lib/contract/lease.js';
import { connectionOf } from '../../lib/service/lock.service.js';
import type { LockService } from '../../lib/service/lock.service.js';
import { ZooKeeperFaultProxy, ZooKeeperServer } from '../../lib/testing/index.js';
import { freshBasePath } from '../support/base-path.js';
import { eventually } from '../support/eventually.js';
import { closeService, openService } from '../support/services.js';
import type { ServiceOptions } from '../support/services.js';
import { contendersAt, openClient, untilContenders } from '../support/znodes.js';

const connectString = inject('zookeeper');

/** Opens services as in separate processes, each with a local queue, and a client that observes from outside. */
async function openServices(count: number, options: Partial<ServiceOptions> = {}, lookOn = options.connectString) {
  const basePath = freshBasePath();
  const all = { connectString, basePath, localLine: true, ...options };
  const services = await Promise.all(Array.from({ length: count }, () => openService(all)));
  const client = await openClient(lookOn ?? connectString);
  return { services, client, basePath, path: `${basePath}/k` };
}

const at = <T>(all: readonly T[], place: number): T => all[place % all.length] ?? expect.unreachable();

/** Records what all callers of a test observe of each other. */
class Room {
  readonly tokens: bigint[] = [];
  inside = 0;
  most = 0;

  async visit({ fencingToken }: Lease): Promise<void> {
    this.tokens.push(fencingToken);
    this.most = Math.max(this.most, ++this.inside);
    await new Promise(setImmediate);
    this.inside--;
  }
}

describe('callers in the local queues of several services', () => {
  it('exclude each other, with growing tokens, and leave nothing behind', async () => {
    const { services, client, path } = await openServices(3);
    const room = new Room();
    const visits = Array.from({ length: 600 }, (_, place) =>
      at(services, place).using('k', (lease) => room.visit(lease)),
    );
    await Promise.all(visits);
    expect([room.most, room.tokens.length]).toEqual([1, 600]);
    room.tokens.slice(1).forEach((token, place) => expect(token).toBeGreaterThan(room.tokens[place] ?? 0n));
    expect(await contendersAt(client, path)).toEqual([]);
  });

  it('share one znode per service and key, and contenders() lists all callers', async () => {
    const { services, client, basePath, path } = await openServices(2);
    const [one, other] = [at(services, 0), at(services, 1)];
    const holder = await one.acquire('k');
    const another = await one.acquire('another');
    const waits = Array.from({ length: 20 }, (_, place) =>
      at(services, place).using('k', () => {}, { label: 'waits' }),
    );
    await untilContenders(client, path, 2);
    expect(await contendersAt(client, `${basePath}/another`)).toHaveLength(1);

    const shown = await one.contenders('k');
    expect(shown.map(({ state }) => state)).toEqual(['held', ...Array.from({ length: 11 }, () => 'waiting')]);
    expect(shown.filter(({ isLocal }) => isLocal)).toHaveLength(10);
    expect(shown.filter(({ isOwn }) => isOwn)).toHaveLength(11);
    expect((await other.contenders('k')).filter(({ isLocal }) => isLocal)).toHaveLength(9);

    await holder.release();
    await Promise.all(waits);
    await another.release();
    expect(await contendersAt(client, path)).toEqual([]);
  });

  it('hand over to another service within the hand-over limit', async () => {
    const { services } = await openServices(2);
    const [busy, other] = [at(services, 0), at(services, 1)];
    let isOver = false;
    const work = async () => {
      // Quicker work would use up the hand-over numbers of a token in time, which ends the hand-overs as well.
      while (!isOver) await busy.using('k', () => new Promise<void>((resolve) => setTimeout(resolve, 2)));
    };
    const works = [work(), work(), work()];
    onTestFinished(() => void (isOver = true));
    let served = 0;
    for (let time = 0; time < 5; time++) await other.using('k', () => void served++);
    isOver = true;
    await Promise.all(works);
    expect(served).toBe(5);
  });

  it('give up one by one, and the last one removes the znode', async () => {
    const { services, client, path } = await openServices(2);
    const [one, other] = [at(services, 0), at(services, 1)];
    const holder = await one.acquire('k');
    const abort = new AbortController();
    const impatient = expect(other.acquire('k', { waitMs: 50 })).rejects.toMatchObject({ code: 'LOCK_TIMEOUT' });
    const cancelled = other.acquire('k', { signal: abort.signal });
    await untilContenders(client, path, 2);
    await impatient;
    expect(await contendersAt(client, path)).toHaveLength(2);
    abort.abort(new Error('enough'));
    await expect(cancelled).rejects.toThrow('enough');
    expect(await contendersAt(client, path)).toHaveLength(1);
    expect(await other.tryAcquire('k')).toBeNull();
    expect(await one.tryAcquire('k')).toBeNull();
    await holder.release();
  });

  it('read together behind one znode per service, with a writer in between', async () => {
    const { services, client, path } = await openServices(2);
    const readers = services.flatMap((service) => [1, 2, 3].map(() => service.readWriteLock('k').read));
    const leases = await Promise.all(readers.map((lock) => lock.acquire()));
    expect(leases.every((lease) => lease.isHeld())).toBe(true);
    expect(await contendersAt(client, path)).toHaveLength(2);

    const order: string[] = [];
    const writing = at(services, 0)
      .readWriteLock('k')
      .write.using(() => void order.push('writer'));
    await untilContenders(client, path, 3);
    // Readers of a service that has the key may still join for a moment. Readers of another service are queued behind.
    const late = openService({ connectString, basePath: path.slice(0, -2), localLine: true }).then((service) =>
      service.readWriteLock('k').read.using(() => void order.push('late reader')),
    );
    await untilContenders(client, path, 4);
    for (const lease of leases) await lease.release();
    await Promise.all([writing, late]);
    expect(order).toEqual(['writer', 'late reader']);
    expect(await contendersAt(client, path)).toEqual([]);
  });
});

describe('a session that the servers expire', () => {
  it('ends its caller’s lease, and queues the others again with larger tokens', async () => {
    const proxy = await ZooKeeperFaultProxy.open(connectString);
    onTestFinished(() => proxy.close());
    const { services, client, path } = await openServices(1, { connectString: proxy.connectString }, connectString);
    const service = at(services, 0);
    const lease = await service.acquire('k');
    const tokens: bigint[] = [];
    const waits = [1, 2, 3].map(() => service.using('k', ({ fencingToken }) => void tokens.push(fencingToken)));
    await untilContenders(client, path, 1);

    await proxy.expireSessions();
    if (!lease.signal.aborted) await once(lease.signal, 'abort');

    expect(lease.isHeld()).toBe(false);
    expect(lease.signal.reason).toMatchObject({ code: 'LOCK_LOST', key: 'k' });
    await Promise.all(waits);
    expect(tokens).toHaveLength(3);
    tokens.forEach((token, place) => expect(token).toBeGreaterThan(tokens[place - 1] ?? lease.fencingToken));
    expect(await contendersAt(client, path)).toEqual([]);
  });
});

describe('a warm lease of a service', () => {
  const KEPT = { keepMs: 60_000 };

  async function whileKept(options: Partial<ServiceOptions> = KEPT) {
    const opened = await openServices(2, options);
    const [keeper, other] = [at(opened.services, 0), at(opened.services, 1)];
    const lease = await keeper.acquire('k');
    await lease.release();
    expect(await contendersAt(opened.client, opened.path)).toHaveLength(1);
    return { ...opened, keeper, other, lease };
  }

  const untilGivenUp = async (of: Awaited<ReturnType<typeof whileKept>>) => {
    await untilContenders(of.client, of.path, 0);
    expect(await of.other.tryAcquire('k')).not.toBeNull();
  };

  it('is acquired again without a request, with a larger token, and shown as kept', async () => {
    const { keeper, other, client, path, lease } = await whileKept();
    const [before] = await contendersAt(client, path);
    const again = await keeper.acquire('k');
    expect(again.fencingToken).toBeGreaterThan(lease.fencingToken);
    expect(await contendersAt(client, path)).toEqual([before]);
    await again.release();
    await eventually(async () => {
      const [kept] = await other.contenders('k');
      return kept?.isKept || undefined;
    }, 'the other service sees that it is only kept');
    expect((await keeper.contenders('k')).map(({ isKept }) => isKept)).toEqual([true]);
  });

  it('is given up when another service asks, which can then keep it', async () => {
    const { other, client, path } = await whileKept();
    const lease = await other.acquire('k', { waitMs: 10_000 });
    expect(lease.isHeld()).toBe(true);
    await untilContenders(client, path, 1);
    await lease.release();
    expect(await contendersAt(client, path)).toHaveLength(1);
  });

  it('moves between services that keep it', async () => {
    const { services } = await openServices(3, KEPT);
    const room = new Room();
    await Promise.all(
      Array.from({ length: 300 }, (_, place) => at(services, place).using('k', (lease) => room.visit(lease))),
    );
    for (let time = 0; time < 30; time++) await at(services, time).using('k', (lease) => room.visit(lease));
    expect([room.most, room.tokens.length]).toEqual([1, 330]);
    room.tokens.slice(1).forEach((token, place) => expect(token).toBeGreaterThan(room.tokens[place] ?? 0n));
  });

  it('is given up when another service tries, which then acquires it', async () => {
    const { other } = await whileKept();
    const lease = await eventually(async () => (await other.tryAcquire('k')) ?? undefined, 'a try succeeds');
    expect(lease.isHeld()).toBe(true);
  });

  it('is given up when its time is over', async () => {
    const kept = await whileKept({ keepMs: 300 });
    await untilGivenUp(kept);
    expect(await contendersAt(kept.client, kept.path)).toHaveLength(1);
  });

  it('is given up at shutdown', async () => {
    const kept = await whileKept();
    await closeService(kept.keeper);
    expect(await contendersAt(kept.client, kept.path)).toEqual([]);
    await untilGivenUp(kept);
  });

  it('is given up when the connection was lost', async () => {
    const proxy = await ZooKeeperFaultProxy.open(connectString);
    onTestFinished(() => proxy.close());
    const basePath = freshBasePath();
    const options = { basePath, localLine: true, ...KEPT };
    const [keeper, other] = await Promise.all([
      openService({ ...options, connectString: proxy.connectString }),
      openService({ ...options, connectString }),
    ]);
    const client = await openClient(connectString);
    await (await keeper.acquire('k')).release();
    expect(await contendersAt(client, `${basePath}/k`)).toHaveLength(1);
    proxy.disconnect();
    await untilGivenUp({ client, path: `${basePath}/k`, other } as Awaited<ReturnType<typeof whileKept>>);
    await keeper.acquire('elsewhere');
  });
});

describe('a server', () => {
  let server: ZooKeeperServer;

  beforeAll(async () => {
    server = await ZooKeeperServer.start();
    return () => server.stop();
  });

  const watches = async () => Number(/Total watches:(\d+)/.exec(await server.ask('wchs'))?.[1]);

  /** Resolves when the process of the holder watches the znode of its lease. */
  const untilWatchedBy = async (
    service: LockService,
    { fencingToken }: Lease,
    { client, path }: Pick<Awaited<ReturnType<typeof openServices>>, 'client' | 'path'>,
  ) => {
    const id = connectionOf(service).backend.vitals?.().sessionId ?? '';
    const watched = async () => {
      const blocks = (await server.ask('wchp')).split(/\n(?=\/)/);
      for (const block of blocks.filter((one) => one.startsWith(`${path}/`) && one.includes(id))) {
        const [node = ''] = block.split('\n');
        const { stat } = await client.read(node).catch(() => ({ stat: undefined }));
        if (stat?.czxid === fencingToken >> 16n) return true;
      }
      return undefined;
    };
    await eventually(watched, 'a holder watches its own znode');
  };

  it.each([{ keepMs: 0 }, { keepMs: 200 }])('keeps no watch of callers that are finished (%o)', async (options) => {
    const { services, client, path } = await openServices(3, { ...options, connectString: server.connectString });
    const work = async (service: LockService, place: number) => {
      const { read, write } = service.readWriteLock('k');
      const lock = at([service.mutex('k'), read, write, read], place);
      const lease = await lock.tryAcquire({ waitMs: place % 7 === 0 ? 3 : 20_000 });
      // Some hold for so long that their own znode is watched.
      if (lease && place % 50 === 0) await untilWatchedBy(service, lease, { client, path });
      await lease?.release();
    };
    await Promise.all(Array.from({ length: 300 }, (_, place) => work(at(services, place), place)));
    await untilContenders(client, path, 0);
    await eventually(async () => (await watches()) === 0 || undefined, 'no watch is left');
    expect(await watches()).toBe(0);
  });
});
