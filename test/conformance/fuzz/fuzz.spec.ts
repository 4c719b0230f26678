import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { eventually } from '../../support/eventually.js';
import { COMPILED } from '../places.js';
import { EmbeddedProcess } from '../servers/embedded-process.js';
import { handshakeFrame } from '../stage/handshake.js';
import { Fields } from '../wire/fields.js';
import { getData } from '../wire/node-requests.js';
import { Op } from '../wire/op.js';
import { RawConnection } from '../wire/raw-connection.js';
import { requestFrame } from '../../../lib/zookeeper/wire/records.js';
import { attack } from './attack.js';
import { Bystander } from './bystander.js';
import { hostile } from './hostile.js';

const MEGABYTE = 1_048_576;
const MAY_GROW = 48 * MEGABYTE;

let server: EmbeddedProcess;
let bystander: Bystander;

beforeAll(async () => {
  server = await EmbeddedProcess.start(join(COMPILED, 'lib'));
  bystander = await Bystander.join(server);
});
afterAll(async () => {
  bystander.leave();
  await server[Symbol.asyncDispose]();
});

it('serves other clients, whatever bytes one client sends', { timeout: 300_000 }, async () => {
  const before = await server.memory();
  const property = fc.asyncProperty(hostile, async (one) => {
    const connection = await attack(server, one);
    await bystander.isServed();
    connection.destroy();
  });
  await fc.assert(property, { numRuns: 1_500 });
  expect((await server.memory()) - before).toBeLessThan(MAY_GROW);
});

it.each([-1, -2_147_483_648, 1_048_576, 2_147_483_647])('disconnects on a frame of %d bytes', async (length) => {
  for (const hasSession of [false, true]) {
    const connection = await attack(server, { hasSession, bytes: new Fields().int(length).toBuffer(), pieces: [] });
    await eventually(() => connection.isClosed || undefined, 'the server closes the connection');
    expect(connection.isClosed).toBe(true);
  }
  await bystander.isServed();
});

it('allocates no more of a frame than has arrived', async () => {
  const before = await server.memory();
  const announced = new Fields().int(1_000_000).toBuffer();
  const open = await Promise.all(
    Array.from({ length: 200 }, () => attack(server, { hasSession: false, bytes: announced, pieces: [] })),
  );
  await bystander.isServed();
  expect((await server.memory()) - before).toBeLessThan(MAY_GROW);
  open.forEach((connection) => connection.destroy());
});

it('does not accumulate replies for a client that does not read them', { timeout: 120_000 }, async () => {
  const [size, reads] = [200_000, 300];
  const connection = await RawConnection.open(server);
  connection.write(handshakeFrame({}));
  await connection.next();
  const creation = new Fields()
    .string('/large')
    .buffer(Buffer.alloc(size))
    .acl([{ permissions: 31, scheme: 'world', id: 'anyone' }]);
  connection.write(requestFrame(1, Op.create, creation.int(1).toBuffer()));
  await connection.next();
  const before = await server.memory();
  connection.pause();
  const read = requestFrame(2, Op.getData, getData('/large').body);
  connection.write(Buffer.concat(Array.from({ length: reads }, () => read)));
  await bystander.isServed();
  expect((await server.memory()) - before).toBeLessThan(MAY_GROW);
  connection.resume();
  for (let read = 0; read < reads; read++) expect((await connection.next())?.length).toBeGreaterThan(size);
  await bystander.isServed();
  connection.destroy();
});

it('forgets connections that ended within a handshake or a frame', async () => {
  const before = await server.memory();
  const half = handshakeFrame({}).subarray(0, 20);
  for (let round = 0; round < 300; round++) {
    const connection = await attack(server, { hasSession: round % 2 === 0, bytes: half, pieces: [3, 9] });
    await connection.drop(round % 3 === 0 ? 'reset' : 'fin');
    // It sends no heartbeats of its own, and a slow machine may need longer for all rounds than its session lasts.
    if (round % 25 === 0) await bystander.isServed();
  }
  await bystander.isServed();
  expect((await server.memory()) - before).toBeLessThan(MAY_GROW);
});
