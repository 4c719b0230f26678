import fc from 'fast-check';
import type { Arbitrary } from 'fast-check';
import { requestFrame } from '../../../lib/zookeeper/wire/records.js';
import { handshakeFrame } from '../stage/handshake.js';
import { Fields, OPEN } from '../wire/fields.js';
import { multi } from '../wire/multi-requests.js';
import { create, createTtl, exists, getChildren2, getData, remove, setAcl, setData } from '../wire/node-requests.js';
import { Op } from '../wire/op.js';
import type { Request } from '../wire/request.js';
import { auth, closeSession, ping } from '../wire/session-requests.js';
import { addWatch, removeWatches, setWatches, setWatches2 } from '../wire/watch-requests.js';

/** Bytes that no client sends, and the way in which they arrive. */
export interface Hostile {
  /** Whether a session is opened first. */
  readonly hasSession: boolean;
  readonly bytes: Buffer;
  /** The sizes of the pieces in which they are sent. The rest is one piece. */
  readonly pieces: readonly number[];
}

const WATCHED = ['/fuzzed', '/fuzzed/x', '/'];

const REQUESTS: readonly Request[] = [
  create('/fuzzed', { data: 'x' }),
  create('/fuzzed/e', { flags: 3 }),
  createTtl('/fuzzed/t', 5_000),
  remove('/fuzzed'),
  exists('/fuzzed', true),
  getData('/fuzzed'),
  getChildren2('/'),
  setData('/fuzzed', 'y'),
  setAcl('/fuzzed', OPEN),
  multi([create('/fuzzed/m'), setData('/fuzzed', 'z'), remove('/fuzzed/m')]),
  setWatches(1n, '', { data: WATCHED, exist: WATCHED, child: WATCHED }),
  setWatches2(1n, '', { data: WATCHED, persistent: WATCHED, recursive: WATCHED }),
  addWatch('/fuzzed', 1),
  removeWatches('/fuzzed', 3),
  auth('digest', 'ann:secret'),
  ping,
  closeSession,
];

const anyInt = fc.oneof(fc.integer(), fc.constantFrom(-1, 0, 1, -2_147_483_648, 2_147_483_647, 1_048_575, 1_048_576));
const request = fc.constantFrom(...REQUESTS).map(({ type, body, xid = 1 }) => requestFrame(xid, type, body));

/** A request or a handshake with some of its bytes changed. Its length field is the original one or the correct one. */
const changed: Arbitrary<Buffer> = fc
  .tuple(
    fc.oneof(request, fc.constant(handshakeFrame({}))),
    fc.array(fc.tuple(fc.nat({ max: 200 }), fc.nat({ max: 255 })), { minLength: 1, maxLength: 4 }),
  )
  .map(([frame, changes]) => {
    const bytes = Buffer.from(frame);
    for (const [place, byte] of changes) bytes[place % bytes.length] = byte;
    return bytes;
  });

/** A frame with a wrong length field in the middle. */
const mismeasured: Arbitrary<Buffer> = fc.tuple(request, fc.nat({ max: 60 }), anyInt).map(([frame, place, length]) => {
  const bytes = Buffer.from(frame);
  if (bytes.length >= 16) bytes.writeInt32BE(length, 12 + (place % (bytes.length - 15)));
  return bytes;
});

const cut: Arbitrary<Buffer> = fc
  .tuple(request, fc.nat({ max: 300 }))
  .map(([frame, length]) => measured(frame.subarray(4, 4 + (length % (frame.length - 3)))));

const oddHeader: Arbitrary<Buffer> = fc
  .tuple(anyInt, fc.oneof(anyInt, fc.integer({ min: -12, max: 120 })), fc.uint8Array({ maxLength: 64 }))
  .map(([xid, type, body]) => requestFrame(xid, type, Buffer.from(body)));

const oddLength: Arbitrary<Buffer> = fc
  .tuple(anyInt, fc.uint8Array({ maxLength: 64 }))
  .map(([length, body]) => new Fields().int(length).raw(Buffer.from(body)).toBuffer());

const noise: Arbitrary<Buffer> = fc.uint8Array({ minLength: 1, maxLength: 200 }).map((bytes) => Buffer.from(bytes));

/** Nested transactions, and a list that claims to be longer than the frame. */
const deep: Arbitrary<Buffer> = fc.tuple(fc.integer({ min: 1, max: 2_000 }), anyInt).map(([depth, count]) => {
  const fields = new Fields();
  for (let level = 0; level < depth; level++) fields.int(Op.multi).bool(false).int(-1);
  return requestFrame(1, Op.multi, fields.int(count).toBuffer());
});

const longList: Arbitrary<Buffer> = fc
  .tuple(fc.constantFrom(Op.create, Op.setAcl, Op.setWatches, Op.setWatches2), anyInt)
  .map(([type, count]) => {
    const fields =
      type === Op.setWatches || type === Op.setWatches2 ? new Fields().long(0n) : new Fields().string('/fuzzed');
    if (type === Op.create) fields.buffer(null);
    return requestFrame(1, type, fields.int(count).raw(Buffer.alloc(64)).toBuffer());
  });

/** One hostile message, or several in sequence. */
export const hostile: Arbitrary<Hostile> = fc.record({
  hasSession: fc.boolean(),
  bytes: fc
    .array(fc.oneof(changed, mismeasured, cut, oddHeader, oddLength, noise, deep, longList, request), {
      minLength: 1,
      maxLength: 4,
    })
    .map((parts) => Buffer.concat(parts)),
  pieces: fc.array(fc.integer({ min: 1, max: 9 }), { maxLength: 8 }),
});

function measured(body: Buffer): Buffer {
  return new Fields().int(body.length).raw(body).toBuffer();
}
