import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { ServerAddress } from '../../../../lib/zookeeper/client/connect-string.js';
import { ServerRotation } from '../../../../lib/zookeeper/client/dialer.js';

// The real clock does not follow fake timers; this one must.
vi.mock(import('../../../../lib/async/clock.js'), () => ({ now: () => Date.now() }));

const SERVERS: readonly ServerAddress[] = ['zk1', 'zk2', 'zk3'].map((host) => ({ host, port: 2181 }));
const IN_ORDER = () => 0;

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** Requests a server `count` times, and waits for the end of every pause. */
function hostsOf(rotation: ServerRotation, count: number): string[] {
  const hosts: string[] = [];
  for (let attempt = 0; attempt < count; attempt++) {
    rotation.next(({ host }) => hosts.push(host));
    vi.runAllTimers();
  }
  return hosts;
}

/** Returns the pause of the rotation before its next server. */
function pauseOf(rotation: ServerRotation): number {
  const before = Date.now();
  rotation.next(() => {});
  vi.advanceTimersToNextTimer();
  return Date.now() - before;
}

describe('the rotation of servers', () => {
  it('tries each once, then each again in the same order', () => {
    const hosts = hostsOf(new ServerRotation(SERVERS), 9);
    const round = hosts.slice(0, 3);
    expect(round.toSorted()).toEqual(['zk1', 'zk2', 'zk3']);
    expect(hosts).toEqual([...round, ...round, ...round]);
  });

  it('continues with the next server after one answered', () => {
    const rotation = new ServerRotation(SERVERS, IN_ORDER);
    hostsOf(rotation, 1);
    rotation.succeeded();
    expect(hostsOf(rotation, 3)).toEqual(['zk2', 'zk3', 'zk1']);
  });

  it('has a different order per client, and leaves the list unchanged', () => {
    const orders = Array.from({ length: 200 }, () => hostsOf(new ServerRotation(SERVERS), 3).join());
    expect(new Set(orders).size).toBe(6);
    expect(SERVERS.map(({ host }) => host)).toEqual(['zk1', 'zk2', 'zk3']);
  });

  it('shuffles with the given random numbers', () => {
    const last = () => 0.999;
    expect(hostsOf(new ServerRotation(SERVERS, IN_ORDER), 3)).toEqual(['zk1', 'zk2', 'zk3']);
    expect(hostsOf(new ServerRotation(SERVERS, last), 3)).toEqual(['zk3', 'zk2', 'zk1']);
  });

  it('never calls back in the same turn', () => {
    const callback = vi.fn<(server: ServerAddress) => void>();
    new ServerRotation(SERVERS).next(callback);
    expect(callback).not.toHaveBeenCalled();
    vi.runAllTimers();
    expect(callback).toHaveBeenCalledOnce();
  });

  it('does not call back when stopped', () => {
    const rotation = new ServerRotation(SERVERS);
    const callback = vi.fn<(server: ServerAddress) => void>();
    rotation.stop();
    rotation.next(callback);
    rotation.stop();
    vi.runAllTimers();
    expect(callback).not.toHaveBeenCalled();
    expect(vi.getTimerCount()).toBe(0);
  });
});

describe('the pauses of a rotation', () => {
  it('begin after every server failed, and grow up to a second', () => {
    const rotation = new ServerRotation(SERVERS);
    const pauses = Array.from({ length: 12 }, () => pauseOf(rotation));
    expect(Math.max(...pauses.slice(0, 3))).toBeLessThanOrEqual(1);
    pauses.slice(3).forEach((pauseMs, round) => {
      const limitMs = Math.min(1_000, 50 * 2 ** round);
      expect(pauseMs).toBeGreaterThanOrEqual(Math.floor(limitMs / 2));
      expect(pauseMs).toBeLessThanOrEqual(limitMs);
    });
  });

  it('end with a connection that answered a request, and start short the next time', () => {
    const rotation = new ServerRotation(SERVERS);
    hostsOf(rotation, 20);
    rotation.succeeded();
    rotation.answered();
    vi.advanceTimersByTime(50);
    const pauses = Array.from({ length: 4 }, () => pauseOf(rotation));
    expect(pauses.slice(0, 3)).toEqual([0, 0, 0]);
    expect(pauses[3]).toBeLessThanOrEqual(50);
    expect(pauses[3]).toBeGreaterThanOrEqual(25);
  });

  it('do not come back while every connection answers something before it is reset', () => {
    const rotation = new ServerRotation(SERVERS.slice(0, 1));
    hostsOf(rotation, 20);
    const pauses = Array.from({ length: 30 }, () => {
      rotation.succeeded();
      rotation.answered();
      vi.advanceTimersByTime(50);
      return pauseOf(rotation);
    });
    expect(pauses).toEqual(pauses.map(() => 0));
  });

  it('are short and do not grow when connections answer something and end at once', () => {
    const rotation = new ServerRotation(SERVERS);
    const pauses = Array.from({ length: 30 }, () => {
      rotation.succeeded();
      rotation.answered();
      vi.advanceTimersByTime(5);
      return pauseOf(rotation);
    });
    expect(pauses).toEqual(pauses.map(() => 50));
  });

  it('continue when servers accept the session and close it before they have answered a request', () => {
    const rotation = new ServerRotation(SERVERS);
    const pauses = Array.from({ length: 12 }, () => {
      const pauseMs = pauseOf(rotation);
      rotation.succeeded();
      vi.advanceTimersByTime(999);
      return pauseMs;
    });
    expect(Math.min(...pauses.slice(9))).toBeGreaterThanOrEqual(500);
  });

  it('continue when a server answered long ago but the last one did not', () => {
    const rotation = new ServerRotation(SERVERS);
    hostsOf(rotation, 20);
    rotation.succeeded();
    rotation.answered();
    hostsOf(rotation, 4);
    vi.advanceTimersByTime(60_000);
    expect(pauseOf(rotation)).toBeGreaterThanOrEqual(25);
  });

  it('begin after one attempt with a single server', () => {
    const rotation = new ServerRotation(SERVERS.slice(0, 1));
    expect(pauseOf(rotation)).toBeLessThanOrEqual(1);
    expect(pauseOf(rotation)).toBeGreaterThanOrEqual(25);
  });
});
