import { describe, expect, inject, it, onTestFinished } from 'vitest';
import { ZooKeeperFaultProxy } from '../../lib/testing/index.js';
import { freshBasePath } from '../support/base-path.js';
import { eventually } from '../support/eventually.js';
import { openService } from '../support/services.js';
import { contendersAt, openClient, untilContenders } from '../support/znodes.js';

const connectString = inject('zookeeper');
const KEYS = ['account/a', 'account/b'];

/** A set that holds the first key and waits for the second, which another process holds. */
async function waitingSet(localLine: boolean) {
  const basePath = freshBasePath();
  const proxy = await ZooKeeperFaultProxy.open(connectString);
  onTestFinished(() => proxy.close());
  const one = await openService({ connectString: proxy.connectString, basePath, localLine });
  const other = await openService({ connectString, basePath });
  const client = await openClient(connectString);
  const [a, b] = KEYS.map((key) => `${basePath}/${key}`) as [string, string];
  const blocker = await other.acquire('account/b');
  const waiting = one.multi(KEYS).using((set) => [set.isHeld(), set.state, set.signal.aborted]);
  await untilContenders(client, b, 2);
  const [first = ''] = await contendersAt(client, a);
  return { proxy, other, client, a, b, blocker, waiting, first };
}

type WaitingSet = Awaited<ReturnType<typeof waitingSet>>;

/** The set's state in the work, after checking that the set has left nothing behind. */
async function outcomeOf({ client, a, b, blocker, waiting }: WaitingSet): Promise<unknown> {
  await blocker.release();
  const seen = await waiting;
  for (const path of [a, b]) await untilContenders(client, path, 0);
  return seen;
}

/** Resolves when a new contender of the set is queued for the first key, and again one for the second. */
async function untilLinedUpAgain({ client, a, b, first }: WaitingSet): Promise<void> {
  await eventually(async () => {
    const [now] = await contendersAt(client, a);
    return now !== undefined && now !== first ? true : undefined;
  }, 'another contender');
  await untilContenders(client, b, 2);
}

describe.each([
  ['with a local queue', true],
  ['without', false],
])('an ordered set that waits for its second key, %s', (_, localLine) => {
  it('is queued again when its first key’s znode is deleted from outside', async () => {
    const set = await waitingSet(localLine);
    await set.client.delete(`${set.a}/${set.first}`);
    await untilLinedUpAgain(set);
    expect(await outcomeOf(set)).toEqual([true, 'held', false]);
  });

  it('is queued again when its session expires', async () => {
    const set = await waitingSet(localLine);
    await set.proxy.expireSessions();
    await untilLinedUpAgain(set);
    expect(await outcomeOf(set)).toEqual([true, 'held', false]);
  });

  it('releases the first key when it is revoked, before it has the second', async () => {
    const set = await waitingSet(localLine);
    const next = set.other.acquire('account/a');
    await set.other.revoke('account/a', { graceMs: 60_000 });
    await (await next).release();
    await untilLinedUpAgain(set);
    expect(await outcomeOf(set)).toEqual([true, 'held', false]);
  });
});
