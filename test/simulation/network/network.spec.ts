import { beforeEach, describe, expect, it } from 'vitest';
import { Random } from '../../robustness/random.js';
import type { SimSocket } from './sim-socket.js';
import { PORT, SomeNetwork } from './some-network.js';

let some: SomeNetwork;
let socket: SimSocket;

beforeEach(() => {
  some = new SomeNetwork();
});

const textAt = (events: readonly string[]) => events.map((event) => event.replace(/^data /, '')).join('');

describe('a connection', () => {
  it('is established after a round trip, and both sides know their ports', async () => {
    some.listen();
    await some.atClientDo(() => (socket = some.connect()), 0.0001);
    expect(socket.connecting).toBe(true);
    await some.pass(100);
    expect(some.atClient).toEqual(['connect']);
    expect(socket.connecting).toBe(false);
    expect(some.accepted).toHaveLength(1);
    expect(some.accepted[0]).toMatchObject({ localPort: PORT, remotePort: socket.localPort });
    expect(some.network.connections('client', PORT)).toHaveLength(1);
    expect(some.network.connections('other')).toEqual([]);
  });

  it('is refused without a listener, after it closed, and after its process died', async () => {
    const refused = ['error ECONNREFUSED', 'close'];
    await some.atClientDo(() => void some.connect());
    expect(some.atClient.splice(0)).toEqual(refused);
    some.listen();
    some.network.close(PORT);
    await some.atClientDo(() => void some.connect());
    expect(some.atClient.splice(0)).toEqual(refused);
    some.listen();
    some.server.kill();
    await some.atClientDo(() => void some.connect());
    expect(some.atClient).toEqual(refused);
    expect(some.network.connections()).toEqual([]);
  });

  it('keeps the order of data, even in pieces', async () => {
    const random = new Random('texts');
    some = new SomeNetwork(7, { meanUs: 5_000, slowShare: 0.2, slowUs: 50_000 });
    socket = await some.connected();
    const texts = Array.from({ length: 300 }, (_, number) => `<${number}${'.'.repeat(random.int(0, 20))}>`);
    for (const text of texts) await some.atClientDo(() => void socket.write(text), random.int(0, 3));
    await some.pass(1_000);
    expect(textAt(some.atServer)).toBe(texts.join(''));
    // Some texts were cut, so more pieces than texts have arrived.
    const pieces = some.arrived.filter(({ from, segment }) => from === 'client' && segment.kind === 'bytes');
    expect(pieces.length).toBeGreaterThan(texts.length + 5);
  });

  it('sends data that was written before it was established', async () => {
    some.listen();
    await some.atClientDo(() => {
      socket = some.connect();
      socket.write('a');
      socket.end('b');
    });
    expect(textAt(some.atServer.slice(0, 2))).toBe('ab');
    expect(some.atServer.slice(2)).toEqual(['end', 'finish', 'close']);
    expect(some.atClient).toEqual(['connect', 'finish', 'end', 'close']);
    expect(some.network.connections()).toEqual([]);
  });

  it('copies written data, so the buffer can be reused', async () => {
    socket = await some.connected();
    const bytes = Buffer.from('before');
    await some.atClientDo(() => {
      socket.write(bytes);
      bytes.fill('x');
    });
    expect(textAt(some.atServer)).toBe('before');
  });

  it('is gone for both sides after a reset, and data under way is lost', async () => {
    socket = await some.connected();
    some.client.deliver(() => void socket.write('half a frame'));
    await some.pass(0);
    some.connection.reset();
    await some.pass(100);
    expect(some.atClient).toContain('error ECONNRESET');
    expect(some.atClient.at(-1)).toBe('close');
    expect(some.atServer).toEqual(['error ECONNRESET', 'close']);
    expect(some.network.connections()).toEqual([]);
  });

  it('can be reset in the middle of a frame', async () => {
    // With some seeds, the only write is cut into two pieces, far apart.
    for (let seed = 1; seed < 500; seed++) {
      some = new SomeNetwork(seed, { meanUs: 20_000, slowShare: 0, slowUs: 0 });
      some.listen();
      await some.atClientDo(() => (socket = some.connect()));
      some.client.deliver(() => void socket.write('0123456789'));
      await some.world.run(some.world.now + 1_000_000, () => some.atServer.length > 0);
      if (some.atServer[0] !== 'data 0123456789') break;
    }
    some.connection.reset();
    await some.pass(100);
    expect(some.atServer).toEqual([expect.stringMatching(/^data 0\d{0,8}$/), 'error ECONNRESET', 'close']);
  });
});

describe('a link', () => {
  beforeEach(async () => (socket = await some.connected()));

  it.each(['there', 'back'] as const)('that is held one way, "%s", does not hold the other way', async (way) => {
    some.path[way].hold();
    await some.atClientDo(() => void socket.write('there'));
    await some.atServerDo(() => void some.accepted[0]!.write('back'));
    expect([textAt(some.atServer), textAt(some.atClient)]).toEqual(way === 'there' ? ['', 'back'] : ['there', '']);
    some.path[way].release();
    await some.pass(100);
    expect([textAt(some.atServer), textAt(some.atClient)]).toEqual(['there', 'back']);
  });

  it('holds data under way as well, and delivers everything in order on release', async () => {
    some.client.deliver(() => void socket.write('1'));
    await some.pass(0);
    some.path.there.hold();
    for (const text of ['2', '3']) await some.atClientDo(() => void socket.write(text));
    await some.atClientDo(() => void socket.end('4'));
    expect(some.atServer).toEqual([]);
    some.path.there.release();
    await some.pass(100);
    expect(some.atServer).toEqual(['data 1', 'data 2', 'data 3', 'data 4', 'end', 'finish', 'close']);
  });

  it('that is held twice needs two releases, and one that is not held needs none', async () => {
    const { there } = some.path;
    there.release();
    there.hold();
    there.hold();
    await some.atClientDo(() => void socket.write('a'));
    there.release();
    await some.pass(100);
    expect(some.atServer).toEqual([]);
    there.release();
    // The link is held again before anything has arrived, and released again. Nothing arrives twice.
    there.hold();
    there.release();
    await some.pass(100);
    expect(some.atServer).toEqual(['data a']);
  });

  it('that is slow delays data by the extra time', async () => {
    some.path.there.extraUs = 50_000;
    await some.atClientDo(() => void socket.write('a'), 49);
    expect(some.atServer).toEqual([]);
    await some.pass(10);
    expect(some.atServer).toEqual(['data a']);
  });

  it('holds the handshake of new connections', async () => {
    some.path.back.hold();
    await some.atClientDo(() => void some.connect());
    expect(some.accepted).toHaveLength(2);
    expect(some.atClient).toEqual([]);
    some.path.back.release();
    await some.pass(100);
    expect(some.atClient).toEqual(['connect']);
  });
});

describe('a half-open connection', () => {
  beforeEach(async () => (socket = await some.connected()));

  it('that has vanished is noticed by neither side, whatever is sent', async () => {
    some.connection.vanish();
    await some.atClientDo(() => void socket.write('a'));
    await some.atServerDo(() => void some.accepted[0]!.write('b'), 60_000);
    expect([some.atClient, some.atServer]).toEqual([[], []]);
    await some.atClientDo(() => void socket.destroy());
    expect(some.atClient).toEqual(['close']);
    expect(some.atServer).toEqual([]);
    await some.atServerDo(() => void some.accepted[0]!.destroy());
    expect(some.network.connections()).toEqual([]);
  });

  it('remains when a machine loses power, and answers data with a reset', async () => {
    some.client.kill();
    some.network.processDied(some.client, true);
    await some.pass(60_000);
    expect(some.atServer).toEqual([]);
    await some.atServerDo(() => void some.accepted[0]!.write('are you there?'));
    expect(some.atServer).toEqual(['error ECONNRESET', 'close']);
    expect(some.atClient).toEqual([]);
  });
});

describe('the other side', () => {
  beforeEach(async () => (socket = await some.connected()));

  it("is notified of a process's death by a reset, after the data that was sent", async () => {
    some.client.deliver(() => void socket.write('last words'));
    await some.pass(0);
    some.client.kill();
    some.network.processDied(some.client, false);
    await some.pass(100);
    expect(textAt(some.atServer)).toBe('last wordserror ECONNRESETclose');
    expect(some.atClient).toEqual([]);
    expect(some.network.connections()).toEqual([]);
  });

  it('gets a reset when it sends to a socket that has closed', async () => {
    some.path.there.hold();
    await some.atClientDo(() => void socket.destroy());
    await some.atServerDo(() => void some.accepted[0]!.write('a'));
    expect(some.atServer).toEqual([]);
    some.path.there.release();
    await some.pass(100);
    expect(some.atServer.at(-1)).toBe('close');
    const answers = some.arrived.filter(({ from }) => from === 'client').map(({ segment }) => segment.kind);
    expect(answers.slice(1, 3)).toEqual(['fin', 'rst']);
  });
});

describe('a client that closes before the server knows of the connection', () => {
  it.each([
    ['nothing is held', 'there', 0],
    ['the way there was held', 'there', 1],
    ['the way back is held', 'back', 1],
  ] as const)('leaves nothing behind: %s', async (_name, way, holds) => {
    some.listen();
    if (holds > 0) some.path[way].hold();
    some.client.deliver(() => {
      socket = some.connect();
      some.client.setImmediate(() => void socket.destroy());
    });
    await some.pass(10);
    expect(some.atClient).toEqual(['close']);
    if (holds > 0) some.path[way].release();
    await some.pass(100);
    // The connection was accepted, and was reset as soon as the server's reply arrived.
    expect(some.atServer).toEqual(['error ECONNRESET', 'close']);
    expect(some.network.connections()).toEqual([]);
  });

  it('is removed with a connection that vanished', async () => {
    some.listen();
    some.path.there.hold();
    await some.atClientDo(() => void some.connect().destroy());
    some.connection.vanish();
    some.path.there.release();
    await some.pass(100);
    expect(some.accepted).toEqual([]);
    expect(some.network.connections()).toEqual([]);
  });
});
