import type { Socket } from 'node:net';
import { describe, expect, it } from 'vitest';
import { JuteWriter } from '../../../lib/zookeeper/wire/jute.js';
import { OpCode } from '../../../lib/zookeeper/wire/codes.js';
import { eventually } from '../../support/eventually.js';
import { openService } from '../../support/services.js';
import { openFakeServer } from './support/fake-server.js';
import type { FakeRequest } from './support/fake-server.js';
import { createPersistent, openSession } from './support/open-session.js';

const SESSION_MS = 1_000;
const ROUNDS = 150;

const statRecord = Buffer.alloc(68);
const RECORDS: Readonly<Record<number, Buffer>> = {
  [OpCode.create2]: Buffer.concat([new JuteWriter().string('/made').toBuffer(), statRecord]),
  [OpCode.getData]: Buffer.concat([new JuteWriter().buffer(Buffer.from('data')).toBuffer(), statRecord]),
  [OpCode.getChildren2]: Buffer.concat([new JuteWriter().int(2).string('a').string('b').toBuffer(), statRecord]),
  [OpCode.multi]: new JuteWriter().int(13).bool(false).int(0).int(-1).bool(true).int(-1).toBuffer(),
};
const answer = ({ type }: FakeRequest) => RECORDS[type] ?? 0;

/** A generator of pseudo-random numbers that repeats for the same seed. */
function numbers(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

describe('a session whose server sends replies with a wrong byte', () => {
  it('settles every request, and works again once the replies are correct', async () => {
    const below = numbers(42);
    let isOdd = false;
    const server = await openFakeServer({
      answer,
      timeoutMs: SESSION_MS,
      distort: (message) => {
        if (isOdd) message[below(message.length)] = below(256);
        return message;
      },
    });
    const { sessions } = await openSession(server.connectString, SESSION_MS);
    isOdd = true;
    for (let round = 0; round < ROUNDS; round += 5) {
      const { requests } = await sessions.session();
      await Promise.allSettled([
        createPersistent(requests, '/made'),
        requests.read('/z'),
        requests.children('/z'),
        requests.multi([{ type: 'check', path: '/z' }]),
        requests.sync('/z'),
      ]);
    }
    isOdd = false;

    const found = await eventually(async () => {
      const { requests } = await sessions.session();
      return requests.children('/z').catch(() => undefined);
    }, 'a right answer');

    expect(found).toEqual(['a', 'b']);
  });
});

describe('a server that is no ZooKeeper', () => {
  it.each([
    ['a web server', 'HTTP/1.1 400 Bad Request\r\n\r\n'],
    ['one that says a byte', 'x'],
    ['one that says an empty message', '\0\0\0\0'],
    ['one that says too short a message', '\0\0\0\x04abcd'],
  ])('is reported as such, and does no harm: %s', async (_, greeting) => {
    const greet = (socket: Socket) => void socket.once('data', () => socket.write(greeting));
    const server = await openFakeServer({ greet });
    // The session timeout limits how long a server may take for its handshake reply.
    const times = { sessionTimeoutMs: 2_000, connectTimeoutMs: 1_000 };
    await expect(openService({ connectString: server.connectString, ...times })).rejects.toMatchObject({
      code: 'LOCK_UNAVAILABLE',
      cause: expect.any(Error),
    });
    expect(server.accepted).toBeGreaterThan(0);
  });
});
