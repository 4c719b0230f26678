/**
 * node-zookeeper-client 1.1.3, pinned. This is the only file that names the driver. The driver provides the handshake,
 * the session id and password, the numbering and queueing of requests, and the reconnect loop.
 * Its behaviour that is wrong for locks is replaced from outside, on one instance (see connection.ts). Therefore the
 * internals that this package depends on are checked here.
 */
import type { Socket } from 'node:net';
import driver from 'node-zookeeper-client';

/** A request as the driver queues it. The driver sets `header.xid`, then asks for the bytes. */
export interface DriverRequest {
  readonly header: { readonly type: number; xid: number };
  readonly payload: null;
  toBuffer(): Buffer;
}

export interface DriverPacket {
  readonly request: DriverRequest;
  readonly callback: (error: unknown) => void;
}

/** The states of the driver that this package uses. */
export const DriverState = {
  disconnected: 0,
  connecting: 1,
  connected: 2,
  closing: -1,
  expired: -3,
  authFailed: -4,
} as const;

/** The part of the driver's connection manager that this package reads, calls or replaces. */
export interface ConnectionManager {
  state: number;
  sessionTimeout: number;
  sessionId: Buffer;
  zxid: Buffer;
  xid: number;
  pendingBuffer: Buffer | null;
  socket?: Socket;
  readonly packetQueue: { readonly queue: DriverPacket[] };
  readonly pendingQueue: DriverPacket[];
  on(event: 'state', listener: (state: number) => void): unknown;
  connect(): void;
  queue(request: DriverRequest, callback: (error: unknown) => void): void;
  setState(state: number): void;
  addAuthInfo(scheme: string, auth: Buffer): void;
  onSocketConnected(): void;
  onSocketData(chunk: Buffer): void;
  onSocketDrain(): void;
  onSocketTimeout(): void;
  onSocketClosed(hasError: boolean): void;
}

const METHODS = [
  'on',
  'connect',
  'queue',
  'setState',
  'addAuthInfo',
  'onSocketConnected',
  'onSocketData',
  'onSocketDrain',
  'onSocketTimeout',
  'onSocketClosed',
] as const;

/**
 * Returns a connection manager that has not connected yet.
 * @throws Error when the installed driver is not the pinned one
 */
export function openDriver(sessionTimeoutMs: number): ConnectionManager {
  // The address is never used: `Dialer` chooses the server.
  const client = driver.createClient('localhost', { sessionTimeout: sessionTimeoutMs, retries: 0 });
  const manager = client.connectionManager;
  assertInternals(manager);
  // The first request has number 1, as in every other client.
  manager.xid = 1;
  return manager;
}

function assertInternals(manager: unknown): asserts manager is ConnectionManager {
  const candidate = Object(manager) as Record<string, unknown> & { packetQueue?: { queue?: unknown } };
  const missing: string[] = METHODS.filter((method) => typeof candidate[method] !== 'function');
  if (!Array.isArray(candidate.packetQueue?.queue)) missing.push('packetQueue.queue');
  if (!Array.isArray(candidate['pendingQueue'])) missing.push('pendingQueue');
  if (missing.length === 0) return;
  throw new Error(`node-zookeeper-client is not the pinned version 1.1.3: it lacks ${missing.join(', ')}`);
}
