import { handshakeFrame } from '../stage/handshake.js';
import { create, exists, getData } from '../wire/node-requests.js';
import { ping } from '../wire/session-requests.js';
import type { Group } from './group.js';

const WRONG_PASSWORD = Buffer.alloc(16, 7);

export const handshakes: Group = {
  name: 'handshakes',
  scenarios: {
    'a client may leave out whether it wants to read only': async (stage) => {
      await stage.open('a', { readOnly: 'absent' });
      await stage.open('b', { readOnly: false });
      await stage.open('c', { readOnly: true });
    },
    'the timeout is kept between two and twenty ticks': async (stage) => {
      for (const timeoutMs of [0, -5, 1, 999, 1_000, 1_001, 9_999, 10_000, 10_001, 2_147_483_647, -2_147_483_648]) {
        await stage.open(`of ${timeoutMs}`, { timeoutMs });
      }
    },
    'the protocol version is not looked at': async (stage) => {
      await stage.open('a', { protocolVersion: 7 });
    },
    'a new session needs no password': async (stage) => {
      await stage.open('a', { password: null });
      await stage.open('b', { password: Buffer.alloc(0) });
      await stage.open('c', { password: WRONG_PASSWORD });
    },
    'a client that knows more than the server is sent away without a word': async (stage) => {
      const a = await stage.open('a');
      await a.ask(exists('/'));
      await stage.open('b', { lastZxid: a.lastZxid });
      await stage.open('c', { lastZxid: a.lastZxid + 1_000n });
    },
    'a session is renewed with its id and password': async (stage) => {
      const a = await stage.open('a');
      await a.ask(create('/e', { flags: 1 }));
      await a.drop();
      await a.resume(a, { timeoutMs: 5_000 });
      await a.ask(exists('/e'));
      await a.drop('reset');
      await a.resume(a, { readOnly: 'absent' });
      await a.ask(exists('/e'));
    },
    'a renewal may say what it has seen': async (stage) => {
      const a = await stage.open('a');
      await a.ask(create('/x'));
      await a.drop();
      await a.resume(a, { lastZxid: a.lastZxid });
      await a.drop();
      await a.resume(a, { lastZxid: a.lastZxid + 1_000n });
      await a.resume();
    },
    'a wrong password ends the connection, not the session': async (stage) => {
      const a = await stage.open('a');
      await a.drop();
      for (const password of [WRONG_PASSWORD, null, Buffer.alloc(0), Buffer.alloc(15), Buffer.alloc(17)]) {
        const b = await stage.open('b', { sessionId: a.sessionId, password });
        await b.closed();
      }
      await a.resume();
      await a.ask(ping);
    },
    'a session that was closed is not to be had again': async (stage) => {
      const a = await stage.open('a');
      await a.close();
      await a.resume();
      await a.closed();
    },
    'nobody has a session with an id of their own': async (stage) => {
      for (const sessionId of [1n, -1n, 0x7fff_ffff_ffff_ffffn]) {
        const client = await stage.open('a', { sessionId, password: WRONG_PASSWORD });
        await client.closed();
      }
    },
    'a session has one connection: a newer one takes its place': async (stage) => {
      const a = await stage.open('a');
      await a.ask(getData('/', true));
      a.isSilent = true;
      const b = await stage.client('b').resume(a);
      await a.closed();
      await b.ask(ping);
      await b.ask(create('/e', { flags: 1 }));
    },
    'even one with a wrong password closes the older one': async (stage) => {
      const a = await stage.open('a');
      a.isSilent = true;
      const b = await stage.open('b', { sessionId: a.sessionId, password: WRONG_PASSWORD });
      await b.closed();
      await a.closed();
      await a.resume();
    },
    'a handshake may come in pieces': async (stage) => {
      const frame = handshakeFrame({});
      const a = await stage.client('a').openSocket();
      await a.greet('a handshake, byte by byte', ...Array.from(frame, (byte) => Buffer.of(byte)));
      await a.ask(exists('/'));
    },
    'requests may come right behind it': async (stage) => {
      const a = await stage.open('a');
      await a.askAll([create('/x'), exists('/x'), ping, getData('/x')]);
    },
    'a connection without a handshake is closed': async (stage) => {
      const bodies: readonly (readonly [string, Buffer])[] = [
        ['a handshake of 4 bytes', Buffer.alloc(4)],
        ['a handshake that ends in its password', handshakeFrame({}).subarray(4, 40)],
        ['an empty frame', Buffer.alloc(0)],
        ['a password of -2 bytes', withPasswordOf(-2)],
        ['a password of 2 GB', withPasswordOf(0x7fff_ffff)],
      ];
      for (const [what, body] of bodies) {
        const client = await stage.client('x').openSocket();
        const length = Buffer.alloc(4);
        length.writeInt32BE(body.length);
        await client.greet(what, Buffer.concat([length, body]));
        await client.closed();
      }
    },
    'a handshake may be longer than it has to be': async (stage) => {
      const frame = handshakeFrame({});
      const length = Buffer.alloc(4);
      length.writeInt32BE(frame.length - 4 + 3);
      const a = await stage.client('a').openSocket();
      await a.greet('a handshake and 3 bytes more', Buffer.concat([length, frame.subarray(4), Buffer.alloc(3)]));
      await a.ask(exists('/'));
    },
  },
};

function withPasswordOf(length: number): Buffer {
  const body = Buffer.from(handshakeFrame({}).subarray(4));
  body.writeInt32BE(length, 24);
  return body;
}
