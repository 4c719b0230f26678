import type { PendingRequest } from '../../../../lib/zookeeper/client/pending-request.js';
import { ErrorCode, OpCode } from '../../../../lib/zookeeper/wire/codes.js';
import { JuteReader, JuteWriter } from '../../../../lib/zookeeper/wire/jute.js';
import { REPLY_HEADER_BYTES } from '../../../../lib/zookeeper/wire/records.js';

/** One operation of a request. */
export interface SentOp {
  readonly type: number;
  readonly path: string;
}

// The length of the frame, and the request's number and type.
export const FRAME_HEADER_BYTES = 12;

/** Returns the operations of a request; those of a transaction in order. */
export function opsOf(request: PendingRequest): SentOp[] {
  const reader = new JuteReader(request.toBuffer(), FRAME_HEADER_BYTES);
  const { type } = request.header;
  if (type !== OpCode.multi) return [{ type, path: reader.string() }];
  const ops: SentOp[] = [];
  for (;;) {
    const op = reader.int();
    const isDone = reader.bool();
    reader.int();
    if (isDone) return ops;
    const path = reader.string();
    if (op === OpCode.delete) reader.int();
    else skipCreate(reader);
    ops.push({ type: op, path });
  }
}

function skipCreate(reader: JuteReader): void {
  reader.buffer();
  reader.vector(() => [reader.int(), reader.string(), reader.string()]);
  reader.int();
}

/** Answers with a body, as a server does. */
export function answer(request: PendingRequest, zxid: bigint, body: JuteWriter = new JuteWriter()): void {
  const header = { xid: request.header.xid, zxid, error: ErrorCode.ok };
  const frame = new JuteWriter().raw(Buffer.alloc(REPLY_HEADER_BYTES)).raw(body.toBuffer()).toBuffer();
  request.answer(header, frame);
}

/** Answers a create or a delete that was sent as a plain request. The number is the sequential part of the path. */
export function answerAlone(request: PendingRequest, zxid: bigint): void {
  const [{ type, path } = { type: 0, path: '' }] = opsOf(request);
  if (type === OpCode.delete) return answer(request, zxid);
  answer(request, zxid, new JuteWriter().string(`${path}#`).raw(stat(zxid)));
}

/** Answers a transaction: applied, or failed with an error at the given place. */
export function answerMulti(request: PendingRequest, zxid: bigint, failure?: { place: number; error: number }): void {
  const ops = opsOf(request);
  const body = new JuteWriter();
  ops.forEach(({ type, path }, place) => {
    if (failure) {
      const code = place < failure.place ? ErrorCode.ok : ErrorCode.runtimeInconsistency;
      const error = place === failure.place ? failure.error : code;
      body.int(-1).bool(false).int(error).int(error);
    } else if (type === OpCode.delete) body.int(type).bool(false).int(0);
    else body.int(type).bool(false).int(0).string(`${path}#`);
  });
  answer(request, zxid, body.int(-1).bool(true).int(-1));
}

function stat(czxid: bigint): Buffer {
  const writer = new JuteWriter().long(czxid).long(czxid).long(0n).long(0n);
  return writer.int(0).int(0).int(0).long(0n).int(0).int(0).long(czxid).toBuffer();
}
