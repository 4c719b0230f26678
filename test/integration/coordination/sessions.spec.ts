import { once } from 'node:events';
import { describe, expect, inject, it } from 'vitest';
import { withUnlucky as openUnlucky } from '../../support/coordination/services.js';
import { eventually } from '../../support/eventually.js';
import { contendersAt, untilContenders } from '../../support/znodes.js';

const connectString = inject('zookeeper');

const withUnlucky = () => openUnlucky(connectString);

const ended = async (signal: AbortSignal) => {
  if (!signal.aborted) await once(signal, 'abort');
  return signal.reason as unknown;
};

describe('a session that the servers expire', () => {
  it('returns its items to a waiting taker, before later items', async () => {
    const { proxy, unlucky, other } = await withUnlucky();
    await other.queue('q').putAll(['first', 'second']);
    const item = (await unlucky.queue('q').take())!;
    const second = (await other.queue('q').take())!;
    const waiting = other.queue('q').take();
    await proxy.expireSessions();
    const again = await waiting;
    expect([again?.value, again?.id]).toEqual(['first', item.id]);
    expect(again!.fencingToken).toBeGreaterThan(item.fencingToken);
    expect(await ended(item.signal)).toMatchObject({ code: 'LOCK_LOST' });
    expect(item.isHeld()).toBe(false);
    await expect(item.ack()).rejects.toMatchObject({ code: 'LOCK_LOST' });
    await again!.ack();
    await second.ack();
    expect(await other.queue('q').size()).toBe(0);
  });

  it('lets takers be queued again and loops continue', async () => {
    const { proxy, unlucky, other, client, basePath } = await withUnlucky();
    const line = `${basePath}/%queues/test%2Fq/takers`;
    const abort = new AbortController();
    const seen: unknown[] = [];
    const loop = (async () => {
      for await (const item of unlucky.queue('q').consume({ signal: abort.signal })) {
        seen.push(item.value);
        await item.ack();
      }
    })();
    const [before] = await untilContenders(client, line, 1);
    await proxy.expireSessions();
    await eventually(async () => {
      const [now] = await contendersAt(client, line);
      return now !== undefined && now !== before;
    }, 'the taker stands in line again');
    await other.queue('q').put('after');
    await eventually(async () => (await other.queue('q').size()) === 0, 'the item is taken');
    abort.abort();
    await loop;
    expect(seen).toEqual(['after']);
    expect(await untilContenders(client, line, 0)).toEqual([]);
  });

  it('lets waiters at a barrier continue to wait', async () => {
    const { proxy, unlucky, other } = await withUnlucky();
    await other.barrier('b').raise();
    const waiting = unlucky.barrier('b').wait();
    await unlucky.barrier('b').isUp();
    await proxy.expireSessions();
    expect(await unlucky.barrier('b').isUp()).toBe(true);
    await other.barrier('b').lift();
    await waiting;
  });

  it('lets waiters at a double barrier enter again', async () => {
    const { proxy, unlucky, other, client, basePath } = await withUnlucky();
    const path = `${basePath}/%double-barriers/test%2Fd`;
    const entering = unlucky.doubleBarrier('d', { count: 2 }).enter();
    const [before] = await untilContenders(client, path, 1);
    await proxy.expireSessions();
    await eventually(async () => {
      const [now] = await contendersAt(client, path);
      return now !== undefined && now !== before;
    }, 'it has entered again');
    const members = await Promise.all([entering, other.doubleBarrier('d', { count: 2 }).enter()]);
    await Promise.all(members.map((member) => member.leave()));
    expect(await contendersAt(client, path)).toEqual([]);
  });

  it('ends the membership of a member inside, and the others do not wait for it', async () => {
    const { proxy, unlucky, other, client, basePath } = await withUnlucky();
    const enter = (of: typeof other) => of.doubleBarrier('d', { count: 3 }).enter();
    const [lost, ...others] = await Promise.all([unlucky, other, other].map(enter));
    await proxy.expireSessions();
    expect(await ended(lost!.signal)).toMatchObject({ code: 'LOCK_LOST' });
    await expect(lost!.leave()).rejects.toMatchObject({ code: 'LOCK_LOST' });
    await Promise.all(others.map((member) => member.leave()));
    expect(await contendersAt(client, `${basePath}/%double-barriers/test%2Fd`)).toEqual([]);
    const next = await Promise.all([unlucky, other, other].map(enter));
    await Promise.all(next.map((member) => member.leave()));
  });

  it('does not stop observers of a value', async () => {
    const { proxy, unlucky, other } = await withUnlucky();
    const abort = new AbortController();
    const seen: number[] = [];
    for await (const { value } of unlucky.counter('c').observe({ signal: abort.signal })) {
      seen.push(value);
      if (value === 0) {
        await proxy.expireSessions();
        await other.counter('c').set(1);
      } else abort.abort();
    }
    expect(seen).toEqual([0, 1]);
  });
});

describe('a connection that is cut', () => {
  it('keeps taken items and waiting takers', async () => {
    const { proxy, unlucky, other, client, basePath } = await withUnlucky();
    await other.queue('q').putAll([1, 2]);
    const item = (await unlucky.queue('q').take())!;
    const second = (await other.queue('q').take())!;
    const waiting = unlucky.queue('q').take();
    const line = await untilContenders(client, `${basePath}/%queues/test%2Fq/takers`, 1);
    proxy.disconnect();
    await item.ack();
    expect(await contendersAt(client, `${basePath}/%queues/test%2Fq/takers`)).toEqual(line);
    await second.nack();
    expect((await waiting)?.value).toBe(2);
  });
});

describe('members that crash while the others leave', () => {
  it('leave nothing behind, not even when the one due to leave last crashes', async () => {
    const { proxy, unlucky, other, client, basePath } = await withUnlucky();
    // By its name, one of the six has to leave last. Most likely it is one of the five.
    const crowd = [unlucky, unlucky, unlucky, unlucky, unlucky, other];
    const members = await Promise.all(crowd.map((of) => of.doubleBarrier('d', { count: 6 }).enter()));
    const leaving = members.at(-1)!.leave();
    await proxy.expireSessions();
    await leaving;
    expect(await contendersAt(client, `${basePath}/%double-barriers/test%2Fd`)).toEqual([]);
  });
});

describe('a spurious wake-up', () => {
  it('lets no waiter pass a barrier', async () => {
    const { unlucky, other, client, proxy, basePath } = await withUnlucky();
    await other.barrier('b').raise();
    const waiting = unlucky.barrier('b').wait({ waitMs: 700 });
    const refused = expect(waiting).rejects.toMatchObject({ code: 'LOCK_TIMEOUT' });
    const change = { type: 'setData', path: `${basePath}/%barriers/test%2Fb`, data: Buffer.from('touched') } as const;
    await client.multi([change]);
    proxy.disconnect();
    await unlucky.barrier('b').isUp();
    await client.multi([change]);
    await refused;
  });

  it('admits no member to a double barrier', async () => {
    const { unlucky, client, proxy, basePath } = await withUnlucky();
    const entering = unlucky.doubleBarrier('d', { count: 2 }).enter({ waitMs: 700 });
    const refused = expect(entering).rejects.toMatchObject({ code: 'LOCK_TIMEOUT' });
    // On a busy machine, the wait may be over before it was seen.
    await Promise.race([untilContenders(client, `${basePath}/%double-barriers/test%2Fd`, 1), refused]);
    proxy.disconnect();
    await unlucky.barrier('b').isUp();
    await refused;
  });
});

describe('members that all crash inside a double barrier', () => {
  it('do not cause later members to be admitted before the count is reached', async () => {
    const { proxy, unlucky, other, client, basePath } = await withUnlucky();
    const path = `${basePath}/%double-barriers/test%2Fd`;
    const enter = (of: typeof other, waitMs = 10_000) => of.doubleBarrier('d', { count: 2 }).enter({ waitMs });
    await Promise.all([enter(unlucky), enter(unlucky)]);
    await proxy.expireSessions();
    await eventually(async () => (await contendersAt(client, path)).join() === 'ready', 'only ready is left');
    await expect(enter(other, 200)).rejects.toMatchObject({ code: 'LOCK_TIMEOUT' });
    const members = await Promise.all([enter(other), enter(unlucky)]);
    await Promise.all(members.map((member) => member.leave()));
    expect(await contendersAt(client, path)).toEqual([]);
  });

  it('do not cause several simultaneous members to be admitted early', async () => {
    const { proxy, unlucky, other, client, basePath } = await withUnlucky();
    const path = `${basePath}/%double-barriers/test%2Fd`;
    const enter = (of: typeof other, waitMs = 10_000) => of.doubleBarrier('d', { count: 3 }).enter({ waitMs });
    await Promise.all([enter(unlucky), enter(unlucky), enter(unlucky)]);
    await proxy.expireSessions();
    await eventually(async () => (await contendersAt(client, path)).join() === 'ready', 'only ready is left');
    const early = await Promise.allSettled([enter(other, 300), enter(other, 300)]);
    expect(early.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    const members = await Promise.all([enter(other), enter(unlucky), enter(other)]);
    const late = await enter(unlucky);
    await Promise.all([...members, late].map((member) => member.leave()));
    expect(await contendersAt(client, path)).toEqual([]);
  });
});
