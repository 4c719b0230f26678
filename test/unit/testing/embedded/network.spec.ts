import { once } from 'node:events';
import { connect } from 'node:net';
import type { Socket } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { describe, expect, it, onTestFinished } from 'vitest';
import { deferred } from '../../../../lib/async/deferred.js';
import { LockConfigurationError } from '../../../../lib/contract/errors.js';
import type { EmbeddedZooKeeper } from '../../../../lib/testing/index.js';
import { pathWatchRecord, requestFrame, versionRecord } from '../../../../lib/zookeeper/wire/records.js';
import { Outbox } from '../../../../lib/testing/embedded/server/outbox.js';
import { ServerOpCode } from '../../../../lib/testing/embedded/wire/server-op-codes.js';
import { connectClient } from '../../../integration/driver/support/observed-client.js';
import { eventually } from '../../../support/eventually.js';
import { openRawSession } from './raw.js';
import { ANYONE, EMPTY, startServer } from './servers.js';

const openSocket = async ({ port }: EmbeddedZooKeeper): Promise<Socket> => {
  const socket = connect(port, '127.0.0.1').on('error', () => {});
  onTestFinished(() => void socket.destroy());
  await once(socket, 'connect');
  return socket;
};

/** A client that has requested more than the socket buffers hold, and reads none of it. */
const openGreedy = async (zookeeper: EmbeddedZooKeeper) => {
  const { client } = await connectClient(zookeeper.connectString);
  await client.create({ path: '/large', data: Buffer.alloc(1_000_000), acl: ANYONE, mode: 0 });
  const greedy = await openRawSession(zookeeper);
  greedy.raw.pause();
  const read = requestFrame(1, ServerOpCode.getData, pathWatchRecord('/large', true));
  for (let count = 0; count < 30; count++) greedy.raw.write(read);
  await eventually(() => zookeeper.watchersOf('/large').length > 0 || undefined, 'it watches');
  return greedy;
};

describe('a server that stops does not wait', () => {
  it.each(['stop', 'kill'] as const)('for a client that has sent nothing yet: %s()', async (end) => {
    const zookeeper = await startServer();
    const socket = await openSocket(zookeeper);
    const closed = once(socket, 'close');
    // This client is served after the first socket, so that one has been accepted as well.
    await connectClient(zookeeper.connectString);
    await zookeeper[end]();
    await closed;
    expect(socket.destroyed).toBe(true);
  });

  it('for a client that reads nothing', async () => {
    const zookeeper = await startServer();
    await openGreedy(zookeeper);
    await zookeeper.stop();
    const isAlone = async () => !(await zookeeper.ask('cons')).includes('recved') || undefined;
    expect(await eventually(isAlone, 'nobody is connected')).toBe(true);
  });

  it('for replies that a delay holds back', async () => {
    const zookeeper = await startServer();
    const { client } = await connectClient(zookeeper.connectString);
    zookeeper.delay(100_000);
    const read = client.read('/');
    await zookeeper.stop();
    await expect(read).rejects.toMatchObject({ isConnectionLoss: true });
  });
});

describe('a connection that has lost its session', () => {
  it('has no watches from then on, also when it reads nothing', async () => {
    const zookeeper = await startServer();
    const { sessionId } = await openGreedy(zookeeper);
    const session = zookeeper.session(sessionId);
    session.expire();
    expect(zookeeper.watchersOf('/large')).toEqual([]);
    expect([session.isConnected, session.watches]).toEqual([false, []]);
    const isClosed = async () => !(await zookeeper.ask('cons')).includes('[1](queued=0,recved=31') || undefined;
    await eventually(isClosed, 'it is closed all the same');
  });

  it('executes no further request, however late it is notified', async () => {
    const zookeeper = await startServer();
    const { client } = await connectClient(zookeeper.connectString);
    await client.create({ path: '/a', data: EMPTY, acl: ANYONE, mode: 0 });
    const { raw, ...session } = await openRawSession(zookeeper);
    zookeeper.session(session.sessionId).delay(100_000);
    await openRawSession(zookeeper, session);
    raw.write(requestFrame(1, ServerOpCode.delete, versionRecord('/a')));
    await client.sync('/');
    await nextTurn();
    await client.sync('/');
    expect(zookeeper.znode('/a')).toBeDefined();
  });
});

describe('a slow network', () => {
  it('keeps the order of messages, also when it becomes faster', async () => {
    const heard: string[] = [];
    const allHeard = deferred();
    const write = (bytes: Buffer) => heard.push(String(bytes)) === 3 && allHeard.resolve();
    const outbox = new Outbox({ writable: true, writableLength: 0, write } as unknown as Socket, () => {});
    for (const ms of [100, 10, 0]) {
      outbox.delay(ms);
      outbox.push(Buffer.from(`after ${ms}`));
      await Promise.resolve();
    }
    await allHeard.promise;
    expect(heard).toEqual(['after 100', 'after 10', 'after 0']);
  });

  it('stays slow when a pause ends', async () => {
    const zookeeper = await startServer();
    const { client } = await connectClient(zookeeper.connectString);
    zookeeper.delay(300);
    zookeeper.pause();
    zookeeper.resume();
    for (const reader of [client, (await connectClient(zookeeper.connectString)).client]) {
      const askedAt = performance.now();
      await reader.read('/');
      expect(performance.now() - askedAt).toBeGreaterThan(290);
    }
  });

  it.each([-1, NaN, Infinity, 2 ** 31])('refuses a delay of %d ms', async (ms) => {
    const zookeeper = await startServer();
    expect(() => zookeeper.delay(ms)).toThrow(LockConfigurationError);
  });
});

describe.each(['pause', 'blackHole'] as const)('a client cut off by %s()', (cutOff) => {
  it('is not notified that its session has expired until the connection is restored', async () => {
    const zookeeper = await startServer();
    const { client, told, next } = await connectClient(zookeeper.connectString);
    await client.create({ path: '/own', data: EMPTY, acl: ANYONE, mode: 1 });
    const session = zookeeper.session('/own');
    session[cutOff]();
    session.expire();
    const { client: other } = await connectClient(zookeeper.connectString);
    for (let round = 0; round < 20; round++) await other.sync('/');
    expect(told).toEqual(['connected']);
    const ended = next('ended');
    if (cutOff === 'pause') session.resume();
    else zookeeper.heal();
    expect(await ended).toBe('expired');
  });

  it('gets no reply to ruok either', async () => {
    const zookeeper = await startServer();
    zookeeper[cutOff]();
    const socket = await openSocket(zookeeper);
    let heard = '';
    socket.on('data', (text) => (heard += String(text)));
    socket.write('ruok');
    for (let turn = 0; turn < 20; turn++) await nextTurn();
    expect(heard).toBe('');
  });
});
