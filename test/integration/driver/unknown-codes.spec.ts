import { beforeAll, describe, expect, it } from 'vitest';
import { KeeperError } from '../../../lib/zookeeper/client/keeper-error.js';
import { openService } from '../../support/services.js';
import { compilePrograms } from './support/driver-program.js';
import { openFakeServer } from './support/fake-server.js';
import { connectClient } from './support/observed-client.js';
import { OPEN_ACL } from './support/open-session.js';

/** Codes of newer servers: quota exceeded and throttled. The last one is unknown. */
const CODES = [-125, -127, -999];

let start: Awaited<ReturnType<typeof compilePrograms>>;
beforeAll(async () => {
  start = await compilePrograms('unknown-codes');
});

describe('the plain driver', () => {
  it.each(CODES)('ends the process when a server answers with %s', async (code) => {
    const server = await openFakeServer({ answer: () => code });
    const program = start('plain-create', { connectString: server.connectString });
    expect(await program.ended()).toMatchObject({ code: 1, output: expect.stringContaining(`Unknown code: ${code}`) });
    expect(program.said).toEqual(['connected']);
  });
});

describe('a client', () => {
  it.each(CODES)('rejects with the server’s code: %s', async (code) => {
    const server = await openFakeServer({ answer: () => code });
    const { client, told } = await connectClient(server.connectString);
    const node = { path: '/z', data: Buffer.alloc(0), acl: OPEN_ACL, mode: 0 } as const;
    const asked = await Promise.allSettled([
      client.create(node),
      client.create({ ...node, mode: 4 }),
      client.delete('/z'),
      client.children('/z'),
      client.read('/z'),
      client.watch('/z'),
      client.sync('/z'),
      client.multi([{ type: 'check', path: '/z' }]),
    ]);
    for (const { status, reason } of asked as PromiseRejectedResult[]) {
      expect([status, reason]).toEqual(['rejected', expect.any(KeeperError)]);
      expect(reason).toMatchObject({ code });
    }
    expect([told, server.accepted]).toEqual([['connected'], 1]);
  });

  it('names the code, known or not, and the path', async () => {
    const server = await openFakeServer({ answer: ({ type }) => (type === 2 ? -999 : -125) });
    const { client } = await connectClient(server.connectString);
    await expect(client.delete('/z')).rejects.toThrow('ZooKeeper: code -999 at /z');
    await expect(client.read('/z')).rejects.toThrow('ZooKeeper: quotaExceeded at /z');
  });

  it.each([
    ['is not the one that is due', 'xid'],
    ['has an impossible length', 'length'],
    ['is empty', 'empty'],
    ['ends too early', 'short'],
    ['nobody asked for', 'unasked'],
  ])('replaces a connection on which a message arrives that %s', async (_, odd) => {
    const server = await openFakeServer({
      distort: (message) => (server.requests.length === 1 ? DISTORTED[odd]!(message) : message),
    });
    const { client, next } = await connectClient(server.connectString);
    const again = next('connected');
    await client.delete('/z').catch(() => {});
    await again;
    await client.delete('/z');
    expect(server.accepted).toBe(2);
  });
});

/** {int length; int xid; long zxid; int err} */
const DISTORTED: Readonly<Record<string, (message: Buffer) => Buffer>> = {
  xid: (message) => {
    message.writeInt32BE(4_711, 4);
    return message;
  },
  length: (message) => {
    message.writeInt32BE(-7, 0);
    return message;
  },
  empty: () => Buffer.alloc(4),
  short: () => Buffer.from([0, 0, 0, 3, 1, 2, 3]),
  unasked: (message) => Buffer.concat([message, message]),
};

describe('a service', () => {
  it.each([-125, -999])('rejects with LockUnavailableError when the server answers with %s', async (code) => {
    const server = await openFakeServer({ answer: () => code });
    const service = await openService({ connectString: server.connectString });
    await expect(service.acquire('k')).rejects.toMatchObject({ code: 'LOCK_UNAVAILABLE', key: 'k', cause: { code } });
    expect(server.accepted).toBe(1);
  });
});
