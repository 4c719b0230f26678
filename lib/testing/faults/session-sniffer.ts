import { connect } from 'node:net';
import type { Socket } from 'node:net';
import { once } from 'node:events';
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

/** Takes the session over with a connection of its own and closes it. Resolves when the server has done so. */
export async function closeSession(
  target: { readonly host: string; readonly port: number },
  session: SniffedSession,
): Promise<void> {
  const socket = connect({ ...target, noDelay: true });
  socket.on('error', () => {});
  const closed = once(socket, 'close');
  await once(socket, 'connect');
  socket.write(connectRequest(session));
  await once(socket, 'data');
  socket.write(requestFrame(1, OpCode.closeSession, Buffer.alloc(0)));
  await closed;
}

/** {int protocolVersion; long lastZxidSeen; int timeOut; long sessionId; buffer passwd} */
function connectRequest({ id, password, timeoutMs }: SniffedSession): Buffer {
  const body = new JuteWriter().int(0).long(0n).int(timeoutMs).long(id).buffer(password).toBuffer();
  return new JuteWriter().buffer(body).toBuffer();
}
