import { frame } from './reply-writer.js';
import { RequestReader } from './request-reader.js';

/** The first message of a connection. */
export interface ConnectRequest {
  readonly lastZxidSeen: bigint;
  readonly timeoutMs: number;
  /** 0 for a new session. */
  readonly sessionId: bigint;
  readonly password: Buffer;
  /** Whether the client ends its message with a read-only flag, and expects one in the response. */
  readonly hasReadOnlyFlag: boolean;
}

const BYTES_BEFORE_PASSWORD = 28;
const NO_PASSWORD = Buffer.alloc(16);

/** {int protocolVersion; long lastZxidSeen; int timeOut; long sessionId; buffer passwd [; bool readOnly]} */
export function readConnectRequest(bytes: Buffer): ConnectRequest {
  const reader = new RequestReader(bytes);
  reader.int();
  const lastZxidSeen = reader.long();
  const timeoutMs = reader.int();
  const sessionId = reader.long();
  const password = reader.nullableBuffer() ?? Buffer.alloc(0);
  return {
    lastZxidSeen,
    timeoutMs,
    sessionId,
    password,
    hasReadOnlyFlag: bytes.length > BYTES_BEFORE_PASSWORD + password.length,
  };
}

export interface Welcome {
  readonly timeoutMs: number;
  readonly id: bigint;
  readonly password: Buffer;
}

/** The response to a client whose session is over, or whose password is wrong. */
export const NO_SUCH_SESSION: Welcome = { timeoutMs: 0, id: 0n, password: NO_PASSWORD };

/** {int protocolVersion; int timeOut; long sessionId; buffer passwd [; bool readOnly]} */
export function connectResponse(welcome: Welcome, hasReadOnlyFlag: boolean): Buffer {
  return frame((writer) => {
    writer.int(0).int(welcome.timeoutMs).long(welcome.id).buffer(welcome.password);
    if (hasReadOnlyFlag) writer.bool(false);
  });
}
