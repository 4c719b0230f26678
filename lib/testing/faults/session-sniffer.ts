import { connect } from 'node:net';
import type { Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { JuteReader, JuteWriter } from '../../zookeeper/wire/jute.js';
import { OpCode } from '../../zookeeper/wire/op-codes.js';
import { requestFrame } from '../../zookeeper/wire/records.js';

/** What it takes to speak for a session. */
export interface SniffedSession {
  readonly id: bigint;
  readonly password: Buffer;
  readonly timeoutMs: number;
}

const PASSWORD_BYTES = 16;
const MOST_ATTEMPTS = 100;
const ATTEMPT_PAUSE_MS = 10;
/** {int protocolVersion; int timeOut; long sessionId; buffer passwd; …} behind its length */
const SHORTEST_CONNECT_RESPONSE = 4 + 4 + 4 + 8 + 4 + PASSWORD_BYTES;

/** Reads the session out of the first thing that a server says. */
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

/** `undefined` for a session that was refused, and for what is no session, such as the answer to an admin word. */
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
 * Takes the session over with a connection of its own and closes it. Resolves when the server does not know it any more.
 * The owner, whose connection is gone, comes back at once, and may take the session back before its end is read: then again.
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

/** Says the session's goodbye. Answers `false` when the server says that there is no such session. */
async function mayKnow(
  target: { readonly host: string; readonly port: number },
  session: SniffedSession,
): Promise<boolean> {
  const socket = connect({ ...target, noDelay: true });
  const heard: Buffer[] = [];
  socket.on('error', () => {});
  socket.on('data', (bytes) => heard.push(bytes));
  // However it ends: a server that refuses or resets may have ended the session, or may not.
  const closed = new Promise<void>((resolve) => void socket.once('close', () => resolve()));
  socket.write(Buffer.concat([connectRequest(session), requestFrame(1, OpCode.closeSession, Buffer.alloc(0))]));
  await closed;
  const answer = Buffer.concat(heard);
  // Taken back before anything was said, too.
  return answer.length < SHORTEST_CONNECT_RESPONSE || readSession(answer) !== undefined;
}

/** {int protocolVersion; long lastZxidSeen; int timeOut; long sessionId; buffer passwd} */
function connectRequest({ id, password, timeoutMs }: SniffedSession): Buffer {
  const body = new JuteWriter().int(0).long(0n).int(timeoutMs).long(id).buffer(password).toBuffer();
  return new JuteWriter().buffer(body).toBuffer();
}
