import { describe, expect, inject, it } from 'vitest';
import { OpCode } from '../../../lib/zookeeper/wire/codes.js';
import { freshBasePath } from '../../support/base-path.js';
import { openCoordination } from '../../support/coordination/services.js';
import { openReplyThief } from '../../support/reply-thief.js';
import { contendersAt, openClient, untilContenders } from '../../support/znodes.js';

const connectString = inject('zookeeper');
const WRITE = OpCode.multi;

/** One service whose replies can be stolen, and another one that is not affected, as in another process. */
async function behindThief() {
  const basePath = freshBasePath();
  const thief = await openReplyThief(connectString);
  const [victim, other, client] = await Promise.all([
    openCoordination({ connectString: thief.connectString, basePath }),
    openCoordination({ connectString, basePath }),
    openClient(connectString),
  ]);
  const steal = (isApplied: boolean) => (isApplied ? thief.stealNext(WRITE) : thief.cutBefore(WRITE));
  return { basePath, thief, victim, other, client, steal };
}

describe.each([
  ['applied', true],
  ['not applied', false],
])('a request that was %s, with a lost reply,', (_, isApplied) => {
  it.each([['one'], ['one', 'two', 'three']])('is put once: %j', async (...values) => {
    const { victim, other, steal } = await behindThief();
    await victim.queue('q').put('before');
    const cut = steal(isApplied);
    await victim.queue('q').putAll(values);
    await cut;
    const items = await other.queue('q').takeBatch({ atMost: 9 });
    expect(items.map(({ value }) => value)).toEqual(['before', ...values]);
  });

  it('takes an item once, and keeps it', async () => {
    const { victim, other, client, basePath, steal } = await behindThief();
    await other.queue('q').putAll([1, 2, 3]);
    await other.queue('q').take();
    const cut = steal(isApplied);
    const items = await victim.queue('q').takeBatch({ atMost: 2 });
    await cut;
    expect(items.map(({ value }) => value)).toEqual([2, 3]);
    expect(await other.queue('q').take({ waitMs: 0 })).toBeNull();
    await Promise.all(items.map((item) => item.ack()));
    expect(await untilContenders(client, `${basePath}/%queues/test%2Fq/claims`, 1)).toHaveLength(1);
    expect(await other.queue('q').size()).toBe(1);
  });

  it('acknowledges an item once', async () => {
    const { victim, other, client, basePath, steal } = await behindThief();
    await other.queue('q').putAll([1, 2]);
    const item = await victim.queue('q').take();
    const cut = steal(isApplied);
    await item?.ack();
    await cut;
    expect(await other.queue('q').size()).toBe(1);
    expect((await other.queue('q').take({ waitMs: 0 }))?.value).toBe(2);
    expect(await contendersAt(client, `${basePath}/%queues/test%2Fq/claims`)).toHaveLength(1);
  });

  it('adds to a counter once, whatever others add', async () => {
    const { victim, other, client, basePath, thief, steal } = await behindThief();
    await victim.counter('c').set(7);
    await untilContenders(client, `${basePath}/%writes`, 0);
    const cut = steal(isApplied);
    const adding = victim.counter('c').add(1);
    await cut;
    thief.isOpen = false;
    await other.counter('c').add(1);
    await other.counter('c').add(1);
    thief.isOpen = true;
    await adding;
    expect((await other.counter('c').get()).value).toBe(10);
    expect(await untilContenders(client, `${basePath}/%writes`, 0)).toEqual([]);
  });

  it('sets a value that was absent, and removes it', async () => {
    const { victim, other, client, basePath, steal } = await behindThief();
    await victim.value('warm', { initial: 0 }).set(1);
    let cut = steal(isApplied);
    const written = await victim.value('v', { initial: 0 }).compareAndSet({ version: 'absent' }, 1);
    await cut;
    expect(written).toEqual({ value: 1, version: 0 });
    cut = steal(isApplied);
    await victim.value('v', { initial: 0 }).remove();
    await cut;
    expect((await other.value('v', { initial: 0 }).get()).version).toBe('absent');
    expect(await untilContenders(client, `${basePath}/%writes`, 0)).toEqual([]);
  });

  it('changes a value once or not at all when it is recreated meanwhile', async () => {
    const { victim, other, thief, steal } = await behindThief();
    await victim.value('v', { initial: 0 }).set(1);
    const cut = steal(isApplied);
    const writing = victim.value('v', { initial: 0 }).compareAndSet({ version: 0 }, 2);
    await cut;
    thief.isOpen = false;
    await other.value('v', { initial: 0 }).remove();
    await other.value('v', { initial: 0 }).set(3);
    await other.value('v', { initial: 0 }).set(4);
    thief.isOpen = true;
    expect(await writing).toEqual(isApplied ? { value: 2, version: 1 } : null);
    expect((await other.value('v', { initial: 0 }).get()).value).toBe(4);
  });

  it('admits all members to a double barrier', async () => {
    const { victim, other, client, basePath, steal } = await behindThief();
    const first = other.doubleBarrier('d', { count: 2 }).enter();
    await untilContenders(client, `${basePath}/%double-barriers/test%2Fd`, 1);
    const cut = steal(isApplied);
    const members = await Promise.all([victim.doubleBarrier('d', { count: 2 }).enter(), first]);
    await cut;
    await Promise.all(members.map((member) => member.leave()));
    expect(await contendersAt(client, `${basePath}/%double-barriers/test%2Fd`)).toEqual([]);
  });

  it('leaves a double barrier as the last member', async () => {
    const { victim, other, client, basePath, steal } = await behindThief();
    const enter = (of: typeof victim) => of.doubleBarrier('d', { count: 2 }).enter();
    const [mine, others] = await Promise.all([enter(victim), enter(other)]);
    await others.goOut();
    await untilContenders(client, `${basePath}/%double-barriers/test%2Fd`, 2);
    const cut = steal(isApplied);
    await mine.leave();
    await cut;
    expect(await contendersAt(client, `${basePath}/%double-barriers/test%2Fd`)).toEqual([]);
  });
});

describe('a put whose item was taken and acknowledged before its reply was recovered', () => {
  it('is repeated with the same id, so that its taker can recognize it', async () => {
    const { victim, other, thief } = await behindThief();
    await other.queue('q').put('before');
    thief.isOpen = false;
    const cut = thief.stealNext(WRITE);
    const putting = victim.queue('q').put('once');
    await cut;
    const [before, first] = await other.queue('q').takeBatch({ atMost: 2 });
    await before!.ack();
    await first!.ack();
    thief.isOpen = true;
    await putting;
    const again = await other.queue('q').take();
    expect([again!.value, again!.id]).toEqual(['once', first!.id]);
  });
});
