import { describe, expect, it } from 'vitest';
import { whileCurrent } from '../../../../lib/zookeeper/coordination/while-current.js';
import { deferred } from '../../../../lib/async/deferred.js';
import type { Session } from '../../../../lib/zookeeper/session/session.js';

const EXPIRED = { isCurrent: false, isConnected: false, timeoutMs: 1_000 } as Session;
const STALLED = { isCurrent: false, isConnected: true, timeoutMs: 100 } as Session;

describe('a wait for an answer, while the session is current', () => {
  it('ends when the session may have expired', async () => {
    expect(await whileCurrent(EXPIRED, new Promise(() => {}), () => 'doubtful')).toBe('doubtful');
  });

  it('goes on for a moment while a server is connected: this process may have stalled', async () => {
    const [fromServer, looked] = [deferred<string>(), deferred()];
    const session = {
      ...STALLED,
      timeoutMs: 60_000,
      get isCurrent() {
        looked.resolve();
        return false;
      },
    } as Session;
    const answered = whileCurrent(session, fromServer.promise, () => 'doubtful');
    await looked.promise;
    await new Promise((resolve) => setImmediate(() => setImmediate(() => setImmediate(resolve))));
    fromServer.resolve('answered');
    expect(await answered).toBe('answered');
    expect(await whileCurrent(STALLED, new Promise(() => {}), () => 'doubtful')).toBe('doubtful');
  });

  it('prefers an answer that has arrived by then, and is read in the next turn', async () => {
    const answer = new Promise((resolve) => setImmediate(resolve, 'answered'));
    expect(await whileCurrent(EXPIRED, answer, () => 'doubtful')).toBe('answered');
  });
});
