import { Fields } from '../wire/fields.js';
import { RecordReader } from '../wire/record-reader.js';
import type { Names } from './names.js';

/** The handshake request of a client. */
export interface Handshake {
  readonly protocolVersion?: number;
  readonly timeoutMs?: number;
  readonly sessionId?: bigint;
  readonly password?: Buffer | null;
  readonly lastZxid?: bigint;
  /** Old clients do not send it: `absent`. */
  readonly readOnly?: boolean | 'absent';
}

export interface Welcome {
  readonly timeoutMs: number;
  readonly sessionId: bigint;
  readonly password: Buffer;
  readonly text: string;
}

export const NO_PASSWORD = Buffer.alloc(16);
const TIMEOUT_MS = 8_000;

/** {int protocolVersion; long lastZxidSeen; int timeOut; long sessionId; buffer passwd; bool readOnly} */
export function handshakeFrame(handshake: Handshake): Buffer {
  const {
    protocolVersion = 0,
    timeoutMs = TIMEOUT_MS,
    sessionId = 0n,
    password = NO_PASSWORD,
    lastZxid = 0n,
    readOnly = false,
  } = handshake;
  const fields = new Fields().int(protocolVersion).long(lastZxid).int(timeoutMs).long(sessionId).buffer(password);
  if (readOnly !== 'absent') fields.bool(readOnly);
  const body = fields.toBuffer();
  return new Fields().int(body.length).raw(body).toBuffer();
}

export function handshakeText(handshake: Handshake, names: Names): string {
  const said = Object.entries(handshake).map(([field, value]) => {
    if (field === 'sessionId') return `session=${names.session(value as bigint)}`;
    if (field === 'password') return `password=${names.password(value as Buffer | null)}`;
    if (field === 'lastZxid') return `since=${names.zxid(value as bigint)}`;
    return `${field}=${String(value)}`;
  });
  return ['connect', ...said].join(' ');
}

/**
 * {int protocolVersion; int timeOut; long sessionId; buffer passwd; bool readOnly}, the last only if the client sent it
 */
export function readWelcome(frame: Buffer, client: string, names: Names): Welcome {
  const reader = new RecordReader(frame);
  const [protocolVersion, timeoutMs, sessionId] = [reader.int(), reader.int(), reader.long()];
  const password = reader.buffer() ?? Buffer.alloc(0);
  if (sessionId !== 0n) names.learn(client, sessionId, password);
  const readOnly = reader.left > 0 ? String(reader.bool()) : 'absent';
  const session = `session=${names.session(sessionId)} password=${names.password(password)}`;
  const text = `protocol=${protocolVersion} timeout=${timeoutMs} ${session} readOnly=${readOnly} (${frame.length} bytes)`;
  return { timeoutMs, sessionId, password, text };
}
