import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { KeeperError } from '../../../../lib/zookeeper/client/keeper-error.js';
import { ErrorCode } from '../../../../lib/zookeeper/client/zookeeper-client.js';
import { Heartbeat, SessionNodes } from '../../../../lib/zookeeper/session/heartbeat.js';
import { AnsweringClient } from './answering-client.js';

// The lease clock is real under fake timers; this one must follow them.
vi.mock(import('../../../../lib/async/clock.js'), () => ({ now: () => Date.now() }));

const T = 12_000;
/** Enough time for work that is deferred to the next turns of the event loop. */
const SOON_MS = 5;

let client: AnsweringClient;
let nodes: SessionNodes;
let heartbeat: Heartbeat;

beforeEach(() => {
  vi.useFakeTimers({ now: 0 });
  client = new AnsweringClient();
  nodes = new SessionNodes();
  heartbeat = new Heartbeat(client, nodes, () => {});
});
afterEach(() => {
  heartbeat.stop();
  vi.useRealTimers();
});

const track = (path: string, foundGone: () => void = () => {}, shared?: bigint) =>
  nodes.join({ path, foundGone, czxid: shared ?? 1n, sharesItsName: shared !== undefined });

describe('a beat', () => {
  it('is a ping while the session owns nothing', async () => {
    await heartbeat.beat();
    expect(client.asked).toEqual(['ping']);
  });

  it('is a transaction that checks the session’s znodes and nothing else', async () => {
    track('/locks/a');
    track('/locks/b');
    await heartbeat.beat();
    expect(client.asked).toEqual(['check /locks/a, check /locks/b']);
  });

  it('checks a limited number, and the others in the next beat', async () => {
    const paths = Array.from({ length: 40 }, (_, number) => `/locks/${number}`);
    paths.forEach((path) => track(path));
    await heartbeat.beat();
    await heartbeat.beat();
    const checked = client.asked.map((beat) => beat.split(', '));
    expect(checked.map(({ length }) => length)).toEqual([32, 32]);
    expect(new Set(checked.flat())).toEqual(new Set(paths.map((path) => `check ${path}`)));
  });

  it('reports the missing znode, and no other', async () => {
    const told: string[] = [];
    ['/a', '/b', '/c'].forEach((path) => track(path, () => told.push(path)));
    client.errors = [ErrorCode.ok, ErrorCode.noNode, ErrorCode.runtimeInconsistency];
    await heartbeat.beat();
    expect(told).toEqual(['/b']);
    expect(nodes.rotate(5).map(({ member }) => member.path)).toEqual(['/a', '/c']);
  });

  it.each([ErrorCode.noAuth, ErrorCode.runtimeInconsistency, ErrorCode.badVersion])(
    'does not take the error %d for a missing znode',
    async (code) => {
      const onGone = vi.fn<() => void>();
      track('/a', onGone);
      client.errors = [code];
      await heartbeat.beat();
      expect(onGone).not.toHaveBeenCalled();
    },
  );

  it('ends without an error and without a report when it is not answered', async () => {
    const onGone = vi.fn<() => void>();
    track('/a', onGone);
    client.failures.push(new KeeperError(ErrorCode.connectionLoss));
    await expect(heartbeat.beat()).resolves.toBeUndefined();
    expect(onGone).not.toHaveBeenCalled();
  });
});

describe('a beat for a znode at a shared path', () => {
  const beat = async (czxid: bigint | undefined, there: bigint | undefined) => {
    const onGone = vi.fn<() => void>();
    track('/single', onGone, czxid);
    if (there !== undefined) client.czxids.set('/single', there);
    await heartbeat.beat();
    return onGone.mock.calls.length;
  };

  it('reads the owner of the znode', async () => {
    expect(await beat(7n, 7n)).toBe(0);
    expect(client.asked.toSorted()).toEqual(['check /single', 'read /single']);
  });

  it('reports the znode missing when another one has replaced it', async () => {
    expect(await beat(7n, 8n)).toBe(1);
  });

  it('reports nothing when the znode cannot be read', async () => {
    expect(await beat(7n, undefined)).toBe(0);
  });

  it('reports once when neither is there', async () => {
    client.errors = [ErrorCode.noNode];
    expect(await beat(7n, 8n)).toBe(1);
  });

  it('does not read when the path alone identifies the znode', async () => {
    expect(await beat(undefined, 8n)).toBe(0);
    expect(client.asked).toEqual(['check /single']);
  });
});

describe('the heartbeat', () => {
  it('beats every sixth of the session timeout', async () => {
    heartbeat.start(T);
    await vi.advanceTimersByTimeAsync(T);
    heartbeat.stop();
    expect(client.asked).toEqual(Array.from({ length: 6 }, () => 'ping'));
  });

  it('continues at the pace of a changed session timeout', async () => {
    heartbeat.start(T);
    heartbeat.start(T / 2);
    await vi.advanceTimersByTimeAsync(T);
    expect(client.asked).toHaveLength(12);
    heartbeat.stop();
    expect(vi.getTimerCount()).toBe(0);
  });

  it('skips a beat when another one was made in between', async () => {
    heartbeat.start(T);
    await vi.advanceTimersByTimeAsync(T / 12);
    await vi.advanceTimersByTimeAsync(T / 12 - 1);
    await heartbeat.beat();
    await vi.advanceTimersByTimeAsync(1);
    heartbeat.stop();
    expect(client.asked).toHaveLength(2);
  });

  it('continues after an unanswered beat', async () => {
    track('/a');
    client.failures.push(...Array.from({ length: 9 }, () => new KeeperError(ErrorCode.connectionLoss)));
    heartbeat.start(T);
    await vi.advanceTimersByTimeAsync(T / 2);
    heartbeat.stop();
    expect(client.asked).toHaveLength(3);
  });

  it('stops', async () => {
    heartbeat.start(T);
    heartbeat.stop();
    await vi.advanceTimersByTimeAsync(10 * T);
    expect(client.asked).toEqual([]);
    expect(vi.getTimerCount()).toBe(0);
  });
});

describe('a connection with an unanswered request', () => {
  const drops = () => client.asked.filter((what) => what === 'drop');

  beforeEach(() => heartbeat.start(T));

  it('is given up after a third of the session timeout and by the next twelfth', async () => {
    client.unansweredSince = 0;
    await vi.advanceTimersByTimeAsync(T / 3);
    expect(drops()).toEqual([]);
    await vi.advanceTimersByTimeAsync(T / 12 + SOON_MS);
    expect(drops()).toEqual(['drop']);
  });

  it('is kept when the answer arrives in time', async () => {
    client.unansweredSince = 0;
    await vi.advanceTimersByTimeAsync(T / 3);
    client.unansweredSince = undefined;
    await vi.advanceTimersByTimeAsync(T);
    expect(drops()).toEqual([]);
  });

  it('is kept when each request is answered within a third, although one is always in flight', async () => {
    for (let round = 0; round < 20; round++) {
      client.unansweredSince = Date.now();
      await vi.advanceTimersByTimeAsync(T / 4);
    }
    expect(drops()).toEqual([]);
  });

  it.each([
    ['given up when it still is', 0, ['drop']],
    ['kept when the answers were waiting in the socket', undefined, []],
    ['kept when only a later request is without one', 1, []],
  ])('is checked again after this process was suspended: %s', (_what, since, dropped) => {
    client.unansweredSince = 0;
    vi.setSystemTime(T);
    vi.advanceTimersToNextTimer();
    expect(drops()).toEqual([]);
    client.unansweredSince = since;
    vi.advanceTimersByTime(SOON_MS);
    expect(drops()).toEqual(dropped);
  });
});
