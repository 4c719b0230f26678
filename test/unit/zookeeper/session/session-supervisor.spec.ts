import { describe, expect, it } from 'vitest';
import { now } from '../../../../lib/async/clock.js';
import type { ClientListener, ZooKeeperClient } from '../../../../lib/zookeeper/client/zookeeper-client.js';
import { SessionSupervisor } from '../../../../lib/zookeeper/session/session-supervisor.js';

/** Clients that are controlled by the test. */
function scriptedClients() {
  const listeners: ClientListener[] = [];
  const told: string[] = [];
  let opened: () => void = () => {};
  const client: ZooKeeperClient = {
    unansweredSince: undefined,
    lastError: undefined,
    latestZxid: 0n,
    connect: () => opened(),
    create: () => Promise.reject(new Error('not scripted')),
    createFirst: () => Promise.reject(new Error('not scripted')),
    knows: () => true,
    forget() {},
    delete: () => Promise.reject(new Error('not scripted')),
    children: () => Promise.reject(new Error('not scripted')),
    read: () => Promise.reject(new Error('not scripted')),
    watch: () => Promise.reject(new Error('not scripted')),
    watchData: () => Promise.reject(new Error('not scripted')),
    watchExistence: () => Promise.reject(new Error('not scripted')),
    watchChildren: () => Promise.reject(new Error('not scripted')),
    sync: () => Promise.reject(new Error('not scripted')),
    multi: () => Promise.reject(new Error('not scripted')),
    ping: () => {},
    dropLink: () => {},
    close: async () => listeners.at(-1)?.ended('closed'),
  };
  return {
    supervisor: new SessionSupervisor(
      (listener) => {
        listeners.push(listener);
        return client;
      },
      60_000,
      {
        connected: ({ sessionId }) => told.push(`connected ${sessionId}`),
        disconnected: ({ id }) => told.push(`disconnected ${id}`),
        ended: ({ id }, why) => told.push(`ended ${id}: ${why}`),
      },
    ),
    /** The notifications of the listener. */
    told,
    /** The listener of the most recently opened client. */
    listener: () => listeners.at(-1) ?? expect.unreachable('no client was opened'),
    nextOpened: () => new Promise<void>((resolve) => (opened = resolve)),
  };
}

const handshake = (sessionId: bigint) => ({ sessionId, timeoutMs: 10_000, sentAt: now() });

describe('the listener of a SessionSupervisor', () => {
  it('is notified of each session, but not of failed attempts or of a shutdown', async () => {
    const { supervisor, listener, nextOpened, told } = scriptedClients();
    supervisor.start();
    for (const end of ['authentication failed', 'unanswered'] as const) {
      const opened = nextOpened();
      listener().disconnected();
      listener().ended(end);
      await opened;
    }
    expect(told).toEqual([]);
    listener().connected(handshake(1n));
    const reopened = nextOpened();
    listener().disconnected();
    listener().ended('expired');
    await reopened;
    listener().connected(handshake(2n));
    await supervisor.close();
    listener().disconnected();
    expect(told).toEqual(['connected 1', 'disconnected 1', 'ended 1: expired', 'connected 2']);
  });
});

describe('SessionSupervisor', () => {
  it('gives the next session to callers that wait since before the first client failed', async () => {
    const { supervisor, listener, nextOpened } = scriptedClients();
    const waiting = supervisor.session();
    const reopened = nextOpened();
    listener().ended('expired');
    await reopened;
    listener().connected(handshake(2n));

    expect((await waiting).id).toBe(2n);
    await supervisor.close();
  });

  it('rejects waiting callers when the credentials are refused, and retries for later ones', async () => {
    const { supervisor, listener, nextOpened } = scriptedClients();
    const waiting = expect(supervisor.session()).rejects.toMatchObject({ code: 'LOCK_CONFIGURATION' });
    const reopened = nextOpened();
    listener().ended('authentication failed');
    await waiting;
    const later = supervisor.session();
    await reopened;
    listener().connected(handshake(2n));

    expect((await later).id).toBe(2n);
    await supervisor.close();
  });

  it('rejects waiting and later callers when it is closed', async () => {
    const { supervisor } = scriptedClients();
    const waiting = expect(supervisor.session()).rejects.toMatchObject({ code: 'LOCK_SHUTDOWN' });
    await supervisor.close();
    await waiting;
    await expect(supervisor.session()).rejects.toMatchObject({ code: 'LOCK_SHUTDOWN' });
  });

  it('keeps the session through a disconnection, and opens another one after its end', async () => {
    const { supervisor, listener, nextOpened } = scriptedClients();
    supervisor.start();
    listener().connected(handshake(1n));
    const first = await supervisor.session();
    expect(supervisor.state).toBe('connected');

    listener().disconnected();
    expect(supervisor.state).toBe('suspended');
    listener().connected(handshake(1n));
    expect(await supervisor.session()).toBe(first);

    const reopened = nextOpened();
    listener().disconnected();
    listener().ended('expired');
    expect(first.signal.reason).toMatchObject({ why: 'expired' });
    expect(supervisor.state).toBe('lost');
    await reopened;
    listener().connected(handshake(2n));
    expect((await supervisor.session()).id).toBe(2n);
    await supervisor.close();
  });
});
