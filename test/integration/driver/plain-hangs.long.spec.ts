import { beforeAll, describe, expect, inject, it } from 'vitest';
import { blockEventLoop } from '../../support/block-event-loop.js';
import { freshBasePath } from '../../support/base-path.js';
import { eventually } from '../../support/eventually.js';
import { unusedPort } from '../../support/unused-port.js';
import { openClient } from '../../support/znodes.js';
import { compilePrograms } from './support/driver-program.js';
import { inUse, openProxies, openProxy } from './support/open-proxy.js';
import { createPersistent } from './support/open-session.js';
import { untilGone } from './support/outside.js';
import { EPHEMERAL, makePlain, openPlain, plainly, said } from './support/plain-client.js';

// Behaviour that the plain driver shows forever takes a while to observe. The tests of our client in the same
// situations are under the same words: stalls and failover beside this file, half-open in test/in-time.
const target = inject('zookeeper');
const DEADLINE_MS = 1_000;
const SESSION_MS = 1_000;
const BYTES = 2_000;

let start: Awaited<ReturnType<typeof compilePrograms>>;
beforeAll(async () => {
  start = await compilePrograms('plain-hangs');
});

describe('the plain driver, closed', () => {
  it('never ends while a server does not answer its handshake', async () => {
    const proxy = await openProxy(target);
    proxy.blackHole();
    const program = start('plain-close', { connectString: proxy.connectString, when: 'connecting' });
    await eventually(() => proxy.connections > 0 || undefined, 'a connection');
    program.tell('close');
    await new Promise((resolve) => setTimeout(resolve, 3 * DEADLINE_MS));
    expect(program.isRunning).toBe(true);
  });

  it('never ends on a half-open connection', async () => {
    const proxy = await openProxy(target);
    const program = start('plain-close', { connectString: proxy.connectString, when: 'connected' });
    await program.says('connected');
    proxy.blackHole();
    program.tell('close');
    await new Promise((resolve) => setTimeout(resolve, 3 * DEADLINE_MS));
    expect(program.isRunning).toBe(true);
  });
});

describe('the plain driver on a half-open connection', () => {
  const halfOpened = async (direction?: 'toClient') => {
    const proxy = await openProxy(target);
    const plain = await openPlain(proxy.connectString, { sessionTimeout: SESSION_MS });
    const path = freshBasePath();
    await plainly<string>((done) => plain.create(path, Buffer.alloc(0), EPHEMERAL, done));
    proxy.blackHole(direction);
    let isAnswered = false;
    plain.getData('/', () => (isAnswered = true));
    return { plain, path, isAnswered: () => isAnswered };
  };

  it('reports a connection after the server has deleted its znodes', async () => {
    const { plain, path, isAnswered } = await halfOpened();
    await untilGone(target, path);
    expect([plain.getState().name, isAnswered()]).toEqual(['SYNC_CONNECTED', false]);
  });

  it('waits forever for a reply when only replies are lost', async () => {
    const { plain, isAnswered } = await halfOpened('toClient');
    await new Promise((resolve) => setTimeout(resolve, 3 * SESSION_MS));
    expect([plain.getState().name, isAnswered()]).toEqual(['SYNC_CONNECTED', false]);
  });
});

describe('the plain driver, while it is disconnected', () => {
  it('never answers pending requests after its session is over', async () => {
    const proxy = await openProxy(target);
    const plain = await openPlain(proxy.connectString, { sessionTimeout: 1_000 });
    const [down, expired] = [said(plain, 'disconnected'), said(plain, 'expired')];
    proxy.refuse();
    proxy.disconnect();
    await down;
    let isAnswered = false;
    plain.getData('/', () => (isAnswered = true));
    await new Promise((resolve) => setTimeout(resolve, 2_500));
    const closed = said(plain, 'disconnected');
    proxy.heal();
    await Promise.all([expired, closed]);

    // The client is closed for good, and the request is still queued.
    expect([isAnswered, plain.connectionManager.packetQueue.queue.length]).toEqual([false, 1]);
    plain.connect();
    await said(plain, 'expired');
    expect(isAnswered).toBe(false);
  });
});

describe('the plain driver, when there is no server', () => {
  it('stays silent, for as long as there is none', async () => {
    const plain = makePlain(`127.0.0.1:${await unusedPort()}`, { sessionTimeout: 500 });
    let events = 0;
    plain.on('state', () => events++);
    plain.connect();
    await new Promise((resolve) => setTimeout(resolve, 2_000));
    expect([events, plain.getState().name]).toEqual([0, 'DISCONNECTED']);
  });
});

describe('the plain driver, when its server is frozen and another one is available', () => {
  it('stays with the frozen server until its znodes are gone', async () => {
    const { proxies, connectString } = await openProxies(target);
    const plain = await openPlain(connectString, { sessionTimeout: 1_000 });
    const path = freshBasePath();
    await plainly<string>((done) => plain.create(path, Buffer.alloc(0), EPHEMERAL, done));
    const { used, spare } = inUse(proxies);

    used.blackHole();
    await untilGone(target, path);

    expect([plain.getState().name, spare.accepted]).toEqual(['SYNC_CONNECTED', 0]);
  });
});

describe('the plain driver, when a server accepts the connection but never answers', () => {
  it('waits until its znodes are gone, despite another available server', async () => {
    const { proxies, connectString } = await openProxies(target);
    const plain = await openPlain(connectString, { sessionTimeout: 1_000 });
    const path = freshBasePath();
    await plainly<string>((done) => plain.create(path, Buffer.alloc(0), EPHEMERAL, done));
    const { used, spare } = inUse(proxies);

    spare.blackHole();
    used.disconnect();
    await untilGone(target, path);

    expect([plain.getState().name, spare.accepted, used.accepted]).toEqual(['DISCONNECTED', 1, 1]);
  });
});

describe('the plain driver, after this process was stalled for longer than the session timeout', () => {
  it('reports a connection while its session no longer exists', async () => {
    const plain = await openPlain(target, { sessionTimeout: SESSION_MS });
    const path = freshBasePath();
    await plainly<string>((done) => plain.create(path, Buffer.alloc(0), EPHEMERAL, done));
    const expired = said(plain, 'expired');
    blockEventLoop(3 * SESSION_MS);
    const believed = plain.getState().name;
    await expired;
    await untilGone(target, path);
    expect(believed).toBe('SYNC_CONNECTED');
  });
});

describe('the plain driver, when its connection is cut in the middle of a reply', () => {
  const cutPlain = async (bytes: number) => {
    const path = freshBasePath();
    await createPersistent(await openClient(target), path, Buffer.alloc(BYTES, 1));
    const proxy = await openProxy(target);
    const program = start('plain-reader', { connectString: proxy.connectString, path, sessionTimeout: 2_000 });
    await program.says('connected');
    proxy.cutAfter(bytes);
    program.tell('read');
    return { program, proxy };
  };

  it('parses the next handshake as the rest of it, and throws: 2 bytes', async () => {
    const { program } = await cutPlain(2);
    expect(await program.ended()).toMatchObject({ code: 1, output: expect.stringMatching(/out of buffer range/) });
  });

  it.each([20, 1_000])(
    'parses the next handshakes as the rest of it until its session is over: %s bytes',
    async (bytes) => {
      const { program } = await cutPlain(bytes);
      await program.says('expired');
      expect(program.said.filter((message) => message === 'connected')).toHaveLength(1);
      expect(program.said).toContain('CONNECTION_LOSS');
    },
  );
});
