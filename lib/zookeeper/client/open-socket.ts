import { connect as connectTcp } from 'node:net';
import type { Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import type { ConnectionOptions as TlsConnectionOptions } from 'node:tls';
import type { ServerAddress } from './connect-string.js';

/** Those of Node's TLS options that go into a connection to an ensemble. */
export type TlsOptions = Pick<
  TlsConnectionOptions,
  | 'ca'
  | 'cert'
  | 'key'
  | 'pfx'
  | 'passphrase'
  | 'servername'
  | 'rejectUnauthorized'
  | 'checkServerIdentity'
  | 'minVersion'
  | 'secureContext'
>;

/** Connects to a server; `connected` is called when bytes may be sent, over TLS after its handshake. */
export function openSocket(server: ServerAddress, tls: TlsOptions | undefined, connected: () => void): Socket {
  const socket = tls ? connectTls({ ...tls, ...server }) : connectTcp(server);
  // Requests are small and somebody waits for each.
  socket.setNoDelay();
  socket.once(tls ? 'secureConnect' : 'connect', connected);
  return socket;
}
