import { setTimeout as pause } from 'node:timers/promises';
import { beforeAll, describe, expect, it } from 'vitest';
import type { CoordinationService } from '../../../lib/index.js';
import { ZooKeeperServer } from '../../../lib/testing/index.js';
import { coordinated } from '../../support/coordination/services.js';
import { eventually } from '../../support/eventually.js';
import { contendersAt, untilContenders } from '../../support/znodes.js';

const WAITERS = 60;

/** A wait that does not end by itself. */
type Wait = (service: CoordinationService, signal: AbortSignal) => Promise<unknown>;

const WAITS: readonly (readonly [what: string, wait: Wait])[] = [
  ['a taker', (service, signal) => service.queue('empty').take({ signal })],
  [
    'a loop',
    async (service, signal) => {
      for await (const item of service.queue('empty').consume({ signal })) await item.ack();
      throw signal.reason;
    },
  ],
  ['a put', (service, signal) => service.queue('full', { maxItems: 1 }).put('more', { signal })],
  ['one at a barrier', (service, signal) => service.barrier('up').wait({ signal })],
  ['one at a double barrier', (service, signal) => service.doubleBarrier('d', { count: 9 }).enter({ signal })],
  [
    'an observer',
    async (service, signal) => {
      for await (const { version } of service.counter('c').observe({ signal })) expect(version).toBe('absent');
      throw signal.reason;
    },
  ],
];

describe('on a server of its own', () => {
  let server: ZooKeeperServer;

  beforeAll(async () => {
    server = await ZooKeeperServer.start();
    return () => server.stop();
  });

  const watchesKept = async () => Number(/Total watches:(\d+)/.exec(await server.ask('wchs'))?.[1]);
  const childrenWatchesFired = async () =>
    Number(/^zk_sum_node_children_watch_count\s+(\d+)/m.exec(await server.ask('mntr'))?.[1]);
  const ephemerals = async () => Number(/^zk_ephemerals_count\s+(\d+)/m.exec(await server.ask('mntr'))?.[1]);

  it.each(WAITS)('%s that gives up, at whatever step, leaves neither znode nor watch', async (_what, wait) => {
    const { one, other } = await coordinated(server.connectString);
    await other.queue('full').put('there');
    await other.barrier('up').raise();
    for (let step = 0; step < 40; step++) {
      const abort = new AbortController();
      const reason = new Error('gave up');
      const [first, second] = [one, other].map((service) => expect(wait(service, abort.signal)).rejects.toBe(reason));
      for (let turn = 0; turn < step % 8; turn++) await new Promise((resolve) => setImmediate(resolve));
      if (step >= 8) await pause(step / 4);
      abort.abort(reason);
      await Promise.all([first, second]);
    }
    await eventually(async () => (await watchesKept()) === 0, 'no watch is left');
    await eventually(async () => (await ephemerals()) === 0, 'no znode is left');
    expect(await other.queue('full').size()).toBe(1);
    expect((await other.queue('full').take({ waitMs: 0 }))?.value).toBe('there');
  });

  it(`an item that is put wakes one of ${WAITERS} takers, and no other`, async () => {
    const { one, other, client, basePath } = await coordinated(server.connectString);
    const line = `${basePath}/%queues/test%2Fq/takers`;
    await one.queue('q').put('warm');
    await (await one.queue('q').take())?.ack();
    const takes: Promise<void>[] = [];
    const taken: unknown[] = [];
    for (let place = 0; place < WAITERS; place++) {
      const take = (place % 2 ? one : other).queue('q').take();
      takes.push(take.then((item) => (taken.push(item?.value), item?.ack())));
      await untilContenders(client, line, place + 1);
    }
    const before = await childrenWatchesFired();
    for (let place = 0; place < WAITERS; place++) {
      await one.queue('q').put(place);
      await takes[place];
    }
    expect(taken).toEqual(takes.map((_, place) => place));
    // The first taker is notified of the item, and sometimes also of the acknowledgement of the previous item.
    expect((await childrenWatchesFired()) - before).toBeLessThanOrEqual(3 * WAITERS);
    expect(await contendersAt(client, line)).toEqual([]);
    await eventually(async () => (await watchesKept()) === 0, 'no watch is left');
  });

  it('finished queues, barriers and double barriers leave no znode', async () => {
    const { one, other, client, basePath } = await coordinated(server.connectString);
    const queue = one.queue('q', { maxItems: 2 });
    await queue.put(1);
    await (await other.queue('q').take())?.ack();
    await one.barrier('b').raise();
    await one.barrier('b').lift();
    const members = await Promise.all([one, other].map((service) => service.doubleBarrier('d', { count: 2 }).enter()));
    await Promise.all(members.map((member) => member.leave()));
    await one.counter('c').add(1);
    await one.counter('c').remove();
    const left: string[] = [];
    const walk = async (path: string): Promise<void> => {
      const { stat } = await client.read(path);
      if (stat.ephemeralOwner !== 0n || stat.dataLength > 0) left.push(path);
      for (const name of await client.children(path)) await walk(`${path}/${name}`);
    };
    await untilContenders(client, `${basePath}/%writes`, 0);
    await walk(basePath);
    expect(left).toEqual([]);
    expect(await contendersAt(client, `${basePath}/%double-barriers/test%2Fd`)).toEqual([]);
  });
});
