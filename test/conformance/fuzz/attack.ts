import type { TestedServer } from '../servers/tested-server.js';
import { handshakeFrame } from '../stage/handshake.js';
import { RawConnection } from '../wire/raw-connection.js';
import type { Hostile } from './hostile.js';

/** Sends hostile bytes without waiting for a reply. Resolves with the connection. */
export async function attack(server: TestedServer, { hasSession, bytes, pieces }: Hostile): Promise<RawConnection> {
  const connection = await RawConnection.open(server);
  if (hasSession) {
    connection.write(handshakeFrame({ timeoutMs: 1_000 }));
    await connection.next();
  }
  let from = 0;
  for (const size of pieces) {
    connection.write(bytes.subarray(from, (from += size)));
    // Each piece is sent in a packet of its own.
    await new Promise((resolve) => setImmediate(resolve));
  }
  connection.write(bytes.subarray(from));
  return connection;
}
