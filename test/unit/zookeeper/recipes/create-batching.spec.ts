import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { enterQueues } from '../../../../lib/zookeeper/recipes/mutex-set.js';
import { CreateBatching } from '../../../../lib/zookeeper/recipes/shortcuts/create-batching.js';
import { LoopBudget } from '../../../../lib/async/timer.js';
import { WaitQueueView } from '../../../../lib/zookeeper/recipes/wait-queue-view.js';
import { NodeDeletedError } from '../../../../lib/zookeeper/recipes/held-nodes.js';
import { contenderNameOf } from '../../../../lib/zookeeper/recipes/contender-znode.js';
import { SessionEndedError } from '../../../../lib/zookeeper/session/requests.js';
import type { FakeClient, FakeLine } from './fake-wait-queue.js';
import { acquireOver, DELAYING, startLine } from './waiters.js';

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] }));
afterEach(() => void vi.useRealTimers());

type Mode = 'exclusive' | 'read' | 'write';

const FOREIGN = '_c_00000000-0000-0000-0000-000000000000';
const AHEAD = 4;

const pending = () => new AbortController().signal;
const acquire = (client: FakeClient, mode: Mode = 'exclusive', label = '', signal = pending(), wait = true) =>
  acquireOver(client, mode, signal, wait, label, DELAYING);

/** Starts an acquisition that may still be waiting when the test ends. */
const waits = (...args: Parameters<typeof acquire>) => void acquire(...args).catch(() => {});

/** A session with several queued contenders. The first one holds the lock, or a foreign one does. */
async function startWaiting({ modes = Array<Mode>(AHEAD).fill('exclusive'), isForeign = false, sessions = 1 } = {}) {
  const { line, clients } = startLine(sessions);
  const client = clients[0] ?? expect.unreachable();
  if (isForeign) line.enter(`${FOREIGN}-lock-`);
  const ahead = modes.map((mode) => acquire(client, mode));
  await client.passAll();
  expect(line.names).toHaveLength(AHEAD + Number(isForeign));
  return { line, client, clients, ahead, before: line.names.length };
}

const moment = () => vi.advanceTimersByTimeAsync(DELAYING.createDelayMs ?? 0);

/** The labelled contenders, by number. */
function inOrder({ labels }: FakeLine) {
  const labelled = [...labels].filter(([, label]) => label !== '');
  const numberOf = ([path]: [string, string]) => contenderNameOf(path)?.number ?? NaN;
  return labelled.toSorted((one, other) => numberOf(one) - numberOf(other)).map(([, label]) => label);
}

describe('a contender queued behind several of its session', () => {
  it('comes in a moment later, with those that came meanwhile, in their order and with one list', async () => {
    const { line, client, before } = await startWaiting();
    const { lists } = client.asked;
    for (const label of ['a', 'b', 'c']) {
      waits(client, 'exclusive', label);
      await client.passAll();
    }
    expect(line.names).toHaveLength(before);
    await moment();
    await client.passAll();
    expect(inOrder(line)).toEqual(['a', 'b', 'c']);
    expect(client.asked.lists).toBe(lists + 1);
  });

  it('is created at once when the last of them releases, before one requested at that moment', async () => {
    const { line, client, ahead } = await startWaiting();
    const waiting = acquire(client, 'exclusive', 'a');
    await client.passAll();
    for (const each of ahead) void (await each)?.release();
    waits(client, 'exclusive', 'b');
    await client.passAll();
    expect((await waiting)?.isHeld()).toBe(true);
    expect(inOrder(line)).toEqual(['a', 'b']);
  });

  it('is created at once when the last of them is found missing', async () => {
    const { line, client, ahead } = await startWaiting({ isForeign: true });
    waits(client, 'exclusive', 'a');
    await client.passAll();
    const outcomes = ahead.map((each) => expect(each).rejects.toThrow(NodeDeletedError));
    [...line.znodes.keys()].slice(1).forEach((path) => line.remove(path));
    await client.passAll();
    await Promise.all(outcomes);
    expect(inOrder(line)).toEqual(['a']);
  });

  it('is aborted at once, and creates no znode', async () => {
    const { line, client, before } = await startWaiting();
    const abort = new AbortController();
    const given = acquire(client, 'exclusive', 'a', abort.signal);
    await client.passAll();
    abort.abort(new Error('enough'));
    await expect(given).rejects.toThrow('enough');
    await moment();
    await client.passAll();
    expect(line.names).toHaveLength(before);
  });

  it('is rejected at once when the session is over', async () => {
    const { client } = await startWaiting();
    const waiting = acquire(client);
    await client.passAll();
    client.session.ended('closed');
    await expect(waiting).rejects.toThrow(SessionEndedError);
  });

  it('is not passed by a request that does not wait, nor by a set of keys', async () => {
    const { line, client, before } = await startWaiting();
    waits(client, 'exclusive', 'a');
    waits(client, 'exclusive', 'try', pending(), false);
    await client.passAll();
    expect(line.labels.size).toBe(before + 2);
    expect(inOrder(line)).toEqual(['a', 'try']);

    waits(client, 'exclusive', 'b');
    await client.passAll();
    enterQueues(client.session, [DELAYING], { signal: pending() }).catch(() => {});
    await client.passAll();
    expect(inOrder(line)).toContain('b');
  });
});

describe('created without a delay:', () => {
  const writer = ['exclusive', 'read', 'read', 'read'] as const;
  const readers = ['read', 'read', 'read', 'read'] as const;
  const cases: readonly [string, readonly Mode[], Mode, boolean][] = [
    ['one that does not wait', writer, 'exclusive', false],
    ['a reader where only readers stand', readers, 'read', true],
    ['a writer where only readers stand', readers, 'write', true],
  ];
  it.each(cases)('%s', async (_, modes, mode, wait) => {
    const { line, client, before } = await startWaiting({ modes: [...modes] });
    waits(client, mode, 'a', pending(), wait);
    await new Promise(setImmediate);
    client.passUp();
    expect(line.names).toHaveLength(before + 1);
  });

  it('a contender behind those of another session', async () => {
    const { line, clients } = await startWaiting({ sessions: 2 });
    const other = clients[1] ?? expect.unreachable();
    waits(other, 'exclusive', 'a');
    await other.passAll();
    expect(inOrder(line)).toEqual(['a']);
  });

  it('a contender behind fewer than four', async () => {
    const { line, clients } = startLine(1);
    const client = clients[0] ?? expect.unreachable();
    for (let caller = 0; caller < AHEAD; caller++) {
      waits(client);
      await client.passAll();
    }
    expect(line.names).toHaveLength(AHEAD);
  });
});

describe('a create delay', () => {
  function held(delay: CreateBatching) {
    const told: string[] = [];
    void delay.hold(3, [pending()], async () => void told.push('sent'));
    return told;
  }

  function startDelay() {
    const delay = new CreateBatching();
    for (let number = 0; number < AHEAD; number++) delay.joined(`${FOREIGN}-lock-000000000${number}`, true);
    return delay;
  }

  it('is not worth it behind contenders that exclude none', () => {
    const delay = new CreateBatching();
    for (let number = 0; number < AHEAD; number++) delay.joined(`${number}`, false);
    expect(delay.isWorthIt).toBe(false);
  });

  it('does not count a contender whose deletion was refused, because its end is not reported', () => {
    const { clients } = startLine(1);
    const line = new WaitQueueView(
      clients[0]?.session ?? expect.unreachable(),
      DELAYING.path,
      'locks',
      new LoopBudget(),
    );
    const names = Array.from({ length: AHEAD }, (_, number) => `${FOREIGN}-lock-000000000${number}`);
    const members = names.map((name) => ({
      name,
      path: `${DELAYING.path}/${name}`,
      parsed: contenderNameOf(name),
    }));
    members.forEach((member) => line.joined(member));
    expect(line.createBatching.isWorthIt).toBe(true);
    members.forEach((member) => line.stays(member));
    expect(line.createBatching.isWorthIt).toBe(false);
  });

  it('ends when no contender is ahead any more, and leaves no timer', () => {
    const delay = startDelay();
    const told = held(delay);
    for (let number = 0; number < AHEAD; number++) {
      expect([told, delay.isWorthIt]).toEqual([[], true]);
      delay.leaving(`${FOREIGN}-lock-000000000${number}`);
    }
    expect([told, delay.isWorthIt, vi.getTimerCount()]).toEqual([['sent'], false, 0]);
  });

  it('ends on time, and starts anew for later contenders', () => {
    const delay = startDelay();
    const told = held(delay);
    vi.advanceTimersByTime(2);
    delay.end();
    const later = held(delay);
    vi.advanceTimersByTime(2);
    expect([told, later]).toEqual([['sent'], []]);
    vi.advanceTimersByTime(1);
    expect(later).toEqual(['sent']);
  });

  it('leaves no timer and no listener when the last delayed request was aborted', async () => {
    const delay = startDelay();
    const [abort, other] = [new AbortController(), new AbortController()];
    const unlisten = vi.spyOn(other.signal, 'removeEventListener');
    const gone = delay.hold(3, [abort.signal, other.signal], () => expect.unreachable());
    abort.abort(new Error('enough'));
    await expect(gone).rejects.toThrow('enough');
    expect([vi.getTimerCount(), unlisten.mock.calls.length]).toEqual([0, 1]);
    await expect(delay.hold(3, [abort.signal], () => expect.unreachable())).rejects.toThrow('enough');
  });
});
