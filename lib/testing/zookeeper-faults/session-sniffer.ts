import { connect } from 'node:net';
import type { Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { JuteReader, JuteWriter } from '../../zookeeper/wire/jute.js';
import { OpCode } from '../../zookeeper/wire/codes.js';
import { requestFrame } from '../../zookeeper/wire/records.js';

/** The credentials that let a connection take a session over. */
export interface SniffedSession {
  readonly id: bigint;
  readonly password: Buffer;
  readonly timeoutMs: number;
}

const PASSWORD_BYTES = 16;
const MOST_ATTEMPTS = 100;
const ATTEMPT_PAUSE_MS = 10;
/** {int protocolVersion; int timeOut; long sessionId; buffer passwd; …}, preceded by its length */
const SHORTEST_CONNECT_RESPONSE = 4 + 4 + 4 + 8 + 4 + PASSWORD_BYTES;

/** Reads the session from the first message of a server. */
export class SessionSniffer {
  session: SniffedSession | undefined;

  constructor(server: Socket) {
    let heard = Buffer.alloc(0);
    const listen = (bytes: Buffer) => {
      heard = Buffer.concat([heard, bytes]);
      if (heard.length < SHORTEST_CONNECT_RESPONSE) return;
      server.off('data', listen);
      this.session = readSession(heard);
    };
    server.on('data', listen);
  }
}

/** Returns `undefined` for a refused session, and for data that is no session, such as the answer to an admin word. */
function readSession(heard: Buffer): SniffedSession | undefined {
  const reader = new JuteReader(heard, 4);
  const version = reader.int();
  const timeoutMs = reader.int();
  const id = reader.long();
  const passwordBytes = reader.int();
  if (version !== 0 || timeoutMs <= 0 || passwordBytes !== PASSWORD_BYTES) return undefined;
  return {
    timeoutMs,
    id,
    password: Buffer.from(heard.subarray(SHORTEST_CONNECT_RESPONSE - PASSWORD_BYTES, SHORTEST_CONNECT_RESPONSE)),
  };
}

/**
 * Takes the session over with a connection of its own and closes it. Resolves when the session no longer exists on the
 * server.
 * The owner, whose connection is closed by that, reconnects at once. It may take the session back before the close
 * request is read; then the close is repeated.
 * @throws Error when the server serves no sessions
 */
export async function closeSession(
  target: { readonly host: string; readonly port: number },
  session: SniffedSession,
): Promise<void> {
  for (let attempt = 0; attempt < MOST_ATTEMPTS; attempt++) {
    if (!(await mayKnow(target, session))) return;
    await pause(ATTEMPT_PAUSE_MS);
  }
  throw new Error(`the server did not end session 0x${session.id.toString(16)}`);
}

/** Sends the session's close request. Resolves with `false` when the server replies that there is no such session. */
async function mayKnow(
  target: { readonly host: string; readonly port: number },
  session: SniffedSession,
): Promise<boolean> {
  const socket = connect({ ...target, noDelay: true });
  const heard: Buffer[] = [];
  socket.on('error', () => {});
  socket.on('data', (bytes) => heard.push(bytes));
  // Any end of the connection counts: a server that refuses or resets may or may not have ended the session.
  const closed = new Promise<void>((resolve) => void socket.once('close', () => resolve()));
  socket.write(Buffer.concat([connectRequest(session), requestFrame(1, OpCode.closeSession, Buffer.alloc(0))]));
  await closed;
  const answer = Buffer.concat(heard);
  // Also true for a connection that ended without a reply: the owner may have taken the session back.
  return answer.length < SHORTEST_CONNECT_RESPONSE || readSession(answer) !== undefined;
}

/** {int protocolVersion; long lastZxidSeen; int timeOut; long sessionId; buffer passwd} */
function connectRequest({ id, password, timeoutMs }: SniffedSession): Buffer {
  const body = new JuteWriter().int(0).long(0n).int(timeoutMs).long(id).buffer(password).toBuffer();
  return new JuteWriter().buffer(body).toBuffer();
}
