import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import type { AddressInfo, Socket } from 'node:net';
import { describe, expect, inject, it, onTestFinished } from 'vitest';
import { FaultProxy, ZooKeeperFaultProxy, ZooKeeperServer } from '../../lib/testing/index.js';
import { askFourLetterWord } from '../../lib/testing/four-letter-word.js';
import { eventually } from '../support/eventually.js';
import { openClient } from '../support/znodes.js';

const zookeeper = inject('zookeeper');

/** One end of a connection, and all that it has received. */
class End {
  readonly socket: Socket;
  readonly #received: Buffer[] = [];
  hasEnded = false;
  error: NodeJS.ErrnoException | undefined;

  constructor(socket: Socket) {
    this.socket = socket;
    socket.on('data', (bytes: Buffer) => this.#received.push(bytes));
    socket.on('end', () => (this.hasEnded = true));
    socket.on('error', (error) => (this.error = error));
  }

  get text(): string {
    return Buffer.concat(this.#received).toString();
  }

  /** Resolves when it has received this text, from the first byte on. */
  async receives(text: string): Promise<void> {
    while (this.text.length < text.length) await once(this.socket, 'data');
    if (this.text !== text) throw new Error(`received ${this.text} in place of ${text}`);
  }

  async closes(): Promise<void> {
    if (!this.socket.closed) await new Promise((resolve) => this.socket.once('close', resolve));
  }
}

async function setUp() {
  const accepted: End[] = [];
  const server = createServer((socket) => accepted.push(new End(socket))).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const proxy = await FaultProxy.open((server.address() as AddressInfo).port);
  onTestFinished(async () => {
    await proxy.close();
    accepted.forEach(({ socket }) => socket.destroy());
    server.close();
  });
  const dial = async () => {
    const before = accepted.length;
    const client = new End(connect(proxy.port, '127.0.0.1'));
    onTestFinished(() => void client.socket.destroy());
    const end = await eventually(() => accepted[before], 'a connection at the server');
    return { client, server: end };
  };
  return { proxy, dial };
}

/** Resolves when everything that is under way in this process would have arrived. */
async function allArrived({ client, server }: { client: End; server: End }, way: 'toClient' | 'toServer') {
  const [from, to] = way === 'toServer' ? [client, server] : [server, client];
  const mark = `${to.text}mark`;
  from.socket.write('mark');
  await to.receives(mark);
}

/** Sends a reply. Resolves when the proxy holds it back. */
async function heldBack(proxy: FaultProxy, server: End, reply: string): Promise<void> {
  server.socket.write(reply);
  await eventually(() => !proxy.isQuiet || undefined, 'a reply that is held back');
}

describe('a fault proxy', () => {
  it('passes everything on in order, both ways, for any target', async () => {
    const { proxy, dial } = await setUp();
    const { client, server } = await dial();
    const long = 'x'.repeat(300_000);
    client.socket.write('one ');
    client.socket.write(long);
    server.socket.write(long);
    await Promise.all([server.receives(`one ${long}`), client.receives(long)]);
    expect(proxy.connectString).toBe(`127.0.0.1:${proxy.port}`);
    expect([proxy.accepted, proxy.connections]).toEqual([1, 1]);
  });

  it('forwards the end of a connection, after the last bytes', async () => {
    const { proxy, dial } = await setUp();
    const { client, server } = await dial();
    client.socket.end('last words');
    await Promise.all([server.closes(), client.closes()]);
    expect([server.text, server.hasEnded, server.error]).toEqual(['last words', true, undefined]);
    await eventually(() => proxy.connections === 0 || undefined, 'no connection');
    expect(proxy.accepted).toBe(1);
  });

  it('forwards a reset as a reset', async () => {
    const { dial } = await setUp();
    const { client, server } = await dial();
    server.socket.resetAndDestroy();
    await client.closes();
    expect(client.error).toMatchObject({ code: 'ECONNRESET' });
  });

  it('closes the connection of a client whose target does not exist', async () => {
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    await new Promise((resolve) => server.close(resolve));
    await using proxy = await FaultProxy.open(`127.0.0.1:${port}`);
    const client = new End(connect(proxy.port, '127.0.0.1'));
    await client.closes();
    await eventually(() => proxy.connections === 0 || undefined, 'no connection');
    expect(proxy.accepted).toBe(1);
  });

  it('forwards bytes that are no ZooKeeper session', async () => {
    await using proxy = await ZooKeeperFaultProxy.open(zookeeper);
    expect(await askFourLetterWord(proxy.port, 'srvr')).toContain('Mode: ');
    await proxy.expireSessions();
  });
});

describe('delay', () => {
  it('delays every byte by the duration, and keeps the order', async () => {
    const { proxy, dial } = await setUp();
    const { client, server } = await dial();
    proxy.delay(400);
    const sentAt = performance.now();
    const words = Array.from({ length: 200 }, (_, index) => `word ${index} `);
    for (const word of words) {
      client.socket.write(word);
      await new Promise(setImmediate);
    }
    await server.receives(words.join(''));
    const elapsed = performance.now() - sentAt;
    expect(elapsed).toBeGreaterThanOrEqual(399);
    // One after the other, the delays would add up to 80 seconds.
    expect(elapsed).toBeLessThan(40_000);
  });

  it('affects only a named direction, and later connections as well', async () => {
    const { proxy, dial } = await setUp();
    proxy.delay(60_000, 'toServer');
    const ends = await dial();
    ends.client.socket.write('late');
    await allArrived(ends, 'toClient');
    expect(ends.server.text).toBe('');
  });

  it('delays the end of a connection too, behind the bytes', async () => {
    const { proxy, dial } = await setUp();
    const { client, server } = await dial();
    proxy.delay(200);
    const sentAt = performance.now();
    client.socket.end('bye');
    await server.closes();
    expect(performance.now() - sentAt).toBeGreaterThanOrEqual(199);
    expect(server.text).toBe('bye');
  });

  it('ends with heal(), also for bytes under way', async () => {
    const { proxy, dial } = await setUp();
    const { client, server } = await dial();
    proxy.delay(3_600_000);
    client.socket.write('late');
    proxy.heal();
    await expect(server.receives('late')).resolves.toBeUndefined();
  });
});

describe('blackHole', () => {
  it('holds all bytes back until heal(), and closes nothing', async () => {
    const { proxy, dial } = await setUp();
    const { client, server } = await dial();
    proxy.blackHole();
    client.socket.write('to server');
    server.socket.write('to client');
    await dial();
    expect([client.text, server.text, client.hasEnded, server.hasEnded]).toEqual(['', '', false, false]);

    proxy.heal();
    await Promise.all([server.receives('to server'), client.receives('to client')]);
    expect(proxy.connections).toBe(2);
  });

  it('affects only a named direction', async () => {
    const { proxy, dial } = await setUp();
    const ends = await dial();
    proxy.blackHole('toClient');
    ends.server.socket.write('lost');
    await allArrived(ends, 'toServer');
    expect(ends.client.text).toBe('');
  });

  it('holds back the end of a connection until heal()', async () => {
    const { proxy, dial } = await setUp();
    const { client, server } = await dial();
    proxy.blackHole();
    server.socket.end('bye');
    await eventually(() => server.socket.writableFinished || undefined, 'a goodbye that was sent');
    client.socket.write('anybody there?');
    expect([client.text, client.hasEnded]).toEqual(['', false]);
    proxy.heal();
    await client.closes();
    expect([client.text, client.hasEnded]).toEqual(['bye', true]);
    await eventually(() => proxy.connections === 0 || undefined, 'no connection');
  });
});

describe('blackHole since a time', () => {
  it('holds back only what was sent after it', async () => {
    const { proxy, dial } = await setUp();
    const { client, server } = await dial();
    proxy.blackHole('toClient');
    await heldBack(proxy, server, 'first');
    proxy.blackHole('toClient', performance.now());
    await client.receives('first');
    await heldBack(proxy, server, 'second');
    expect(client.text).toBe('first');
    proxy.heal();
    await client.receives('firstsecond');
  });
});

describe('swallowReplies', () => {
  it('loses what the server sends for ever, and closes the connection at heal()', async () => {
    const { proxy, dial } = await setUp();
    const { client, server } = await dial();
    proxy.swallowReplies();
    client.socket.write('request');
    await server.receives('request');
    server.socket.write('reply');
    await eventually(() => server.socket.bytesWritten === 5 || undefined, 'a reply that was sent');
    await eventually(() => proxy.hasLostReplies || undefined, 'a reply that is lost');
    proxy.heal();
    await Promise.all([client.closes(), server.closes()]);
    expect(client.text).toBe('');
    await allArrived(await dial(), 'toClient');
  });

  it('loses replies that were held back', async () => {
    const { proxy, dial } = await setUp();
    const { client, server } = await dial();
    proxy.blackHole('toClient');
    await heldBack(proxy, server, 'reply');
    proxy.swallowReplies();
    await eventually(() => proxy.hasLostReplies || undefined, 'a reply that is lost');
    proxy.heal();
    await Promise.all([client.closes(), server.closes()]);
    expect(client.text).toBe('');
  });

  it('keeps connections that have lost nothing', async () => {
    const { proxy, dial } = await setUp();
    const ends = await dial();
    await allArrived(ends, 'toClient');
    proxy.swallowReplies();
    await allArrived(ends, 'toServer');
    proxy.heal();
    await allArrived(ends, 'toClient');
    expect(proxy.connections).toBe(1);
  });
});

describe('throttle', () => {
  it('limits the bytes a second, however they were sent', async () => {
    const { proxy, dial } = await setUp();
    const { client, server } = await dial();
    proxy.throttle(10_000);
    const startedAt = performance.now();
    client.socket.write('x'.repeat(10_000));
    while (server.text.length < 10_000) {
      await once(server.socket, 'data');
      expect(server.text.length).toBeLessThanOrEqual(10 * (performance.now() - startedAt + 5));
    }
    expect(performance.now() - startedAt).toBeGreaterThanOrEqual(950);
  });

  it('ends with heal(), also for bytes under way', async () => {
    const { proxy, dial } = await setUp();
    const { client, server } = await dial();
    proxy.throttle(1, 'toServer');
    client.socket.write('x'.repeat(100_000));
    await once(server.socket, 'data');
    proxy.heal();
    await expect(server.receives('x'.repeat(100_000))).resolves.toBeUndefined();
  });
});

describe('cutAfter', () => {
  it.each([0, 1, 20, 99])('cuts after %s more bytes, in the middle of a message', async (bytes) => {
    const { proxy, dial } = await setUp();
    const ends = await dial();
    await allArrived(ends, 'toClient');
    proxy.cutAfter(bytes);
    ends.server.socket.write('x'.repeat(100));
    await Promise.all([ends.client.closes(), ends.server.closes()]);
    expect(ends.client.text).toBe(`mark${'x'.repeat(bytes)}`);
  });

  it('counts the other direction when that is named', async () => {
    const { proxy, dial } = await setUp();
    const ends = await dial();
    proxy.cutAfter(3, 'toServer');
    await allArrived(ends, 'toClient');
    ends.client.socket.write('abcdef');
    await Promise.all([ends.client.closes(), ends.server.closes()]);
    expect(ends.server.text).toBe('abc');
  });

  it('happens once', async () => {
    const { proxy, dial } = await setUp();
    const ends = await dial();
    proxy.cutAfter(1);
    ends.server.socket.write('xx');
    await ends.client.closes();
    await allArrived(await dial(), 'toClient');
    expect(proxy.connections).toBe(1);
  });

  it('is undone by heal()', async () => {
    const { proxy, dial } = await setUp();
    const ends = await dial();
    proxy.cutAfter(1);
    proxy.heal();
    await allArrived(ends, 'toClient');
    expect(proxy.connections).toBe(1);
  });
});

describe('refuse', () => {
  it('closes new connections and keeps existing ones, until heal()', async () => {
    const { proxy, dial } = await setUp();
    const ends = await dial();
    proxy.refuse();
    const refused = new End(connect(proxy.port, '127.0.0.1'));
    await refused.closes();
    await allArrived(ends, 'toServer');
    expect(proxy.accepted).toBe(1);
    proxy.heal();
    await allArrived(await dial(), 'toServer');
  });
});

describe('disconnect', () => {
  it.each([
    ['rst', 'ECONNRESET'],
    ['fin', undefined],
  ] as const)('ends every connection with a %s, for both sides', async (how, code) => {
    const { proxy, dial } = await setUp();
    const [one, other] = [await dial(), await dial()];
    proxy.disconnect(how);
    const all = [one.client, one.server, other.client, other.server];
    await Promise.all(all.map((end) => end.closes()));
    expect(all.map(({ error }) => error?.code)).toEqual([code, code, code, code]);
    await eventually(() => proxy.connections === 0 || undefined, 'no connection');
    await allArrived(await dial(), 'toClient');
  });
});

describe('expireSessions', () => {
  it('removes the znodes of the sessions connected through it, and no others', async () => {
    await using server = await ZooKeeperServer.start();
    await using proxy = await ZooKeeperFaultProxy.open(server.connectString);
    const [inside, outside] = [await openClient(proxy.connectString), await openClient(server.connectString)];
    const acl = [{ permissions: 31, scheme: 'world', id: 'anyone' }];
    const node = { data: Buffer.alloc(0), acl, mode: 1 } as const;
    await inside.create({ ...node, path: '/of-inside' });
    await outside.create({ ...node, path: '/of-outside' });

    await proxy.expireSessions();

    expect(await outside.children('/')).toEqual(expect.not.arrayContaining(['of-inside']));
    expect(await outside.children('/')).toContain('of-outside');
    await expect(inside.read('/of-outside')).rejects.toThrow(/sessionExpired|connectionLoss/);
  });
});

describe('close', () => {
  it('ends the proxy and its connections, whatever the faults', async () => {
    const { proxy, dial } = await setUp();
    const { client, server } = await dial();
    proxy.blackHole();
    proxy.delay(3_600_000);
    client.socket.write('x');
    await proxy.close();
    await Promise.all([client.closes(), server.closes()]);
    const late = new End(connect(proxy.port, '127.0.0.1'));
    await late.closes();
    expect(late.error).toMatchObject({ code: 'ECONNREFUSED' });
  });
});
