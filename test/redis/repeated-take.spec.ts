import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import type { TakenItem } from '../../lib/contract/coordination-backend.js';
import { LinkLostError, RefusedError } from '../../lib/redis/client/redis-error.js';
import { RedisLink } from '../../lib/redis/client/redis-link.js';
import { redis } from '../../lib/redis/index.js';
import { TAKE } from '../../lib/redis/scripts/coordination-scripts.js';
import { FaultProxy, RedisServer } from '../../lib/testing/index.js';

const { signal } = new AbortController();

let server: RedisServer;

beforeAll(async () => {
  server = await RedisServer.start();
});
afterAll(() => server.stop());

/** The queue of a client behind a proxy, and that of another client. */
async function setUp() {
  const basePath = `test/${randomUUID()}`;
  const proxy = await FaultProxy.open(server.port);
  onTestFinished(() => proxy.close());
  const [one, other] = [proxy.port, server.port].map((port) => {
    const settings = { url: `redis://127.0.0.1:${port}`, basePath, restartDelayMs: 0, sessionTimeoutMs: 20_000 };
    const backend = redis(settings).create();
    onTestFinished(() => backend.close());
    const { queues } = backend.coordination!;
    return {
      put: (...texts: string[]) =>
        queues.put({ key: 'q', payloads: texts.map((text) => Buffer.from(text)), wait: false, signal }),
      connect: () => backend.connect(),
      take: (wait = false) => queues.take({ key: 'q', atMost: 1, wait, signal }),
    };
  });
  await Promise.all([one!.connect(), other!.connect()]);
  const takenCount = () => server.ask('HLEN', `{${basePath}}:takers:q`);
  return { proxy, one: one!, other: other!, takenCount };
}

const texts = (items: readonly TakenItem[]) => items.map(({ payload }) => String(payload));

/** Lets the first `TAKE` be carried out without an answer, and refuses the second. */
function losingThenRefusing(): void {
  const { run } = RedisLink.prototype;
  let runs = 0;
  const spy = vi.spyOn(RedisLink.prototype, 'run').mockImplementation(async function (this: RedisLink, call) {
    if (call.script !== TAKE) return run.call(this, call);
    runs++;
    if (runs === 2) throw new RefusedError('OOM', "OOM command not allowed when used memory > 'maxmemory'.");
    const answer = await run.call(this, call);
    if (runs > 1) return answer;
    this.close('the answer was lost');
    throw new LinkLostError('the answer was lost');
  });
  onTestFinished(() => spy.mockRestore());
}

describe('a request to take whose answer is lost', () => {
  it('returns the item that it has taken, and not an earlier one that was put back since', async () => {
    const { proxy, one, other, takenCount } = await setUp();
    await other.put('x', 'y');
    const [first] = await other.take();
    proxy.swallowReplies();
    const taking = one.take();
    await expect.poll(takenCount, { interval: 5 }).toBe(':2\r\n');
    // The other connection may be answered first.
    await expect.poll(() => proxy.hasLostReplies, { interval: 5 }).toBe(true);
    await first?.lease.release();
    proxy.heal();
    const taken = await taking;
    expect(texts(taken)).toEqual(['y']);
    await taken[0]?.ack();
    expect(texts(await other.take())).toEqual(['x']);
  });

  it('and whose repetition is refused: the item is put back', async () => {
    const { one, other } = await setUp();
    await other.put('x');
    losingThenRefusing();
    await expect(one.take()).rejects.toMatchObject({ code: 'LOCK_UNAVAILABLE' });
    expect(texts(await other.take(true))).toEqual(['x']);
  });
});
