import { describe, expect, inject, it, onTestFinished } from 'vitest';
import { EmbeddedZooKeeper } from '../../../lib/testing/index.js';
import { blockEventLoop } from '../../support/block-event-loop.js';
import { coordinated, withUnlucky as openUnlucky } from '../../support/coordination/services.js';
import { eventually } from '../../support/eventually.js';
import type { ServiceOptions } from '../../support/services.js';
import { contendersAt, untilContenders, untilWatched } from '../../support/znodes.js';

const connectString = inject('zookeeper');
const withUnlucky = (options: Partial<ServiceOptions> = {}) => openUnlucky(connectString, options);

describe('an orderly end after a long hold', () => {
  it('does not report an acknowledged item as lost', async () => {
    const { one, basePath } = await coordinated(connectString);
    await one.queue('q').put('slow');
    const item = (await one.queue('q').take())!;
    await untilWatched(connectString, `${basePath}/%queues/test%2Fq/claims/`);
    await item.ack();
    expect(item.signal.aborted).toBe(false);
    expect(item.isHeld()).toBe(false);
  });

  it('does not report a member that leaves as lost, not even the last one', async () => {
    const { one, other, client, basePath } = await coordinated(connectString);
    const path = `${basePath}/%double-barriers/test%2Fd`;
    const members = await Promise.all([one, other].map((of) => of.doubleBarrier('d', { count: 2 }).enter()));
    const own = (await contendersAt(client, path)).filter((name) => name !== 'ready');
    await Promise.all(own.map((name) => untilWatched(connectString, `${path}/${name}`)));
    await Promise.all(members.map((member) => member.leave()));
    expect(members.map(({ signal }) => signal.aborted)).toEqual([false, false]);
  });
});

describe('a loop over batches', () => {
  it('delivers no item that was lost while the loop was busy', async () => {
    const { proxy, unlucky, other } = await withUnlucky();
    await other.queue('q').putAll([1, 2, 3]);
    const handed: [value: unknown, isHeld: boolean][] = [];
    for await (const item of unlucky.queue('q').consume({ batch: 3 })) {
      handed.push([item.value, item.isHeld()]);
      if (handed.length === 1) {
        await proxy.expireSessions();
        await eventually(async () => item.signal.aborted, 'it is told');
      } else await item.ack();
      if (handed.length === 4) break;
    }
    expect(handed).toEqual([1, 1, 2, 3].map((value) => [value, true]));
  });

  it('returns undelivered items to the queue when the application shuts down', async () => {
    const { one, other } = await coordinated(connectString);
    await other.queue('q').putAll([1, 2, 3]);
    for await (const item of one.queue('q').consume({ batch: 3 })) {
      one.beforeApplicationShutdown();
      await item.ack();
    }
    expect((await other.queue('q').takeBatch({ atMost: 9 })).map(({ value }) => value)).toEqual([2, 3]);
  });
});

describe('a queue whose sequence numbers are used up', () => {
  it('refuses to put more, and starts over when it is empty', async () => {
    const server = await EmbeddedZooKeeper.start();
    onTestFinished(() => server.stop());
    const { one, basePath } = await coordinated(server.connectString);
    const queue = one.queue('q');
    await queue.put('first');
    server.setSequence(`${basePath}/%queues/test%2Fq/items`, 2 ** 31 - 9);
    await queue.put('last');
    await expect(queue.put('no more', { waitMs: 30 })).rejects.toMatchObject({ code: 'LOCK_TIMEOUT' });
    const putting = queue.put('anew');
    for (const item of await queue.takeBatch({ atMost: 9 })) await item.ack();
    await putting;
    expect((await queue.take())?.value).toBe('anew');
  });
});

describe('a long queue', () => {
  it('keeps its order while others take, acknowledge and return items', async () => {
    const { one, other } = await coordinated(connectString);
    const values = Array.from({ length: 1_200 }, (_, n) => n);
    for (const half of [values.slice(0, 600), values.slice(600)]) await one.queue('q').putAll(half);
    const [mine, others] = [one, other].map((service) => service.queue<number>('q'));
    const take = async (queue = mine!) => (await queue.take())!;
    const [first, second] = [await take(), await take(others)];
    const third = await take();
    expect([first, second, third].map(({ value }) => value)).toEqual([0, 1, 2]);
    await second.nack();
    const again = await take();
    expect(again.value).toBe(1);
    await Promise.all([first, again, third].map((item) => item.ack()));
    for (const item of await others!.takeBatch({ atMost: 40 })) await item.ack();
    const next = await mine!.takeBatch({ atMost: 100 });
    expect(next.map(({ value }) => value)).toEqual(values.slice(43, 143));
    await next[50]!.nack();
    expect((await take(others)).value).toBe(93);
    const rest = new Set<number>();
    const drain = async (queue = mine!) => {
      for (let item = await queue.take({ waitMs: 0 }); item; item = await queue.take({ waitMs: 0 })) {
        expect(rest.has(item.value)).toBe(false);
        rest.add(item.value);
        await item.ack();
      }
    };
    await Promise.all([drain(), drain(), drain(others!), drain(others!)]);
    expect([...rest].toSorted((a, b) => a - b)).toEqual(values.slice(143));
  });
});

describe('a process that was stalled for longer than its session timeout', () => {
  const SESSION_MS = 1_000;
  const DELAY_MS = 60;

  /** A service whose replies are delayed, and which is stalled between a request of this round trip and its reply. */
  async function withStall() {
    const { proxy, unlucky, other } = await withUnlucky({ sessionTimeoutMs: SESSION_MS });
    const stallIn = (roundTrip: number) => {
      proxy.delay(DELAY_MS, 'toClient');
      setTimeout(
        () => {
          blockEventLoop(2 * SESSION_MS);
          proxy.heal();
        },
        DELAY_MS * (roundTrip - 0.5),
      );
    };
    return { unlucky, other, stallIn };
  }

  it('gets no item that it has lost meanwhile', async () => {
    const { unlucky, other, stallIn } = await withStall();
    await other.queue('warm').put(0);
    await unlucky.queue('warm').take();
    await other.queue('warm').put(1);
    stallIn(2);
    const item = (await unlucky.queue('warm').take())!;
    expect(item.isHeld()).toBe(true);
    await item.ack();
  });

  it('is not admitted to a double barrier that it has left', async () => {
    const { proxy, unlucky, other, client, basePath } = await withUnlucky({ sessionTimeoutMs: SESSION_MS });
    const entering = unlucky.doubleBarrier('d', { count: 2 }).enter();
    await untilContenders(client, `${basePath}/%double-barriers/test%2Fd`, 1);
    await unlucky.barrier('b').isUp();
    proxy.delay(DELAY_MS, 'toClient');
    const member = await other.doubleBarrier('d', { count: 2 }).enter();
    blockEventLoop(2 * SESSION_MS);
    proxy.heal();
    expect([(await entering).isIn(), member.isIn()]).toEqual([true, true]);
  });
});
