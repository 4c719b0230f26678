import { once } from 'node:events';
import type { Socket } from 'node:net';
import driver from 'node-zookeeper-client';
import { onTestFinished } from 'vitest';

/** The published driver, and the part of its internals that these tests inspect. */
export interface PlainClient {
  readonly connectionManager: {
    xid: number;
    state: number;
    servers: { host: string; port: string | number }[];
    readonly socket?: Socket;
    readonly sessionId: Buffer;
    readonly packetQueue: { readonly queue: unknown[] };
    readonly pendingQueue: unknown[];
  };
  connect(): void;
  close(): void;
  on(event: 'state', listener: (state: PlainState) => void): this;
  on(event: 'connected' | 'disconnected' | 'expired', listener: () => void): this;
  getState(): PlainState;
  addAuthInfo(scheme: string, credentials: Buffer): void;
  create(path: string, data: Buffer, acl: unknown[], mode: number, done: Done<string>): void;
  create(path: string, data: Buffer, mode: number, done: Done<string>): void;
  remove(path: string, done: Done<undefined>): void;
  exists(path: string, watcher: (event: object) => void, done: Done<object | null>): void;
  exists(path: string, done: Done<object | null>): void;
  getData(path: string, watcher: (event: object) => void, done: Done<Buffer>): void;
  getData(path: string, done: Done<Buffer>): void;
  getChildren(path: string, done: Done<string[]>): void;
  setData(path: string, data: Buffer, done: Done<object>): void;
  transaction(): PlainTransaction;
}

export interface PlainTransaction {
  check(path: string, version: number): this;
  setData(path: string, data: Buffer, version: number): this;
  commit(done: Done<unknown[]>): void;
}

export type PlainState = { readonly name: string };
type Done<T> = (error: { readonly name: string } | null | undefined, result: T) => void;

interface PlainDriver {
  createClient(connectString: string, options?: object): PlainClient;
  readonly CreateMode: Readonly<Record<'PERSISTENT' | 'EPHEMERAL' | 'EPHEMERAL_SEQUENTIAL', number>>;
  readonly ACL: Readonly<Record<'CREATOR_ALL_ACL' | 'OPEN_ACL_UNSAFE', unknown[]>>;
}

export const plainDriver = driver as unknown as PlainDriver;
export const { EPHEMERAL, EPHEMERAL_SEQUENTIAL, PERSISTENT } = plainDriver.CreateMode;

export interface PlainOptions {
  readonly sessionTimeout?: number;
  readonly retries?: number;
}

/** A client of the driver that has not connected yet. Its socket is destroyed after the test in any case. */
export function makePlain(connectString: string, options: PlainOptions = {}): PlainClient {
  const client = plainDriver.createClient(connectString, { sessionTimeout: 4_000, spinDelay: 50, ...options });
  onTestFinished(() => endPlain(client));
  return client;
}

export async function openPlain(connectString: string, options: PlainOptions = {}): Promise<PlainClient> {
  const client = makePlain(connectString, options);
  const connected = once(client as never, 'connected');
  client.connect();
  await connected;
  return client;
}

/** Resolves at the next event of this name. */
export async function said(client: PlainClient, event: 'connected' | 'disconnected' | 'expired'): Promise<void> {
  await once(client as never, event);
}

/** Turns a callback with an error or a result into a promise. */
export function plainly<T>(ask: (done: Done<T>) => void): Promise<T> {
  return new Promise((resolve, reject) => {
    ask((error, result) => {
      if (error) reject(error as unknown as Error);
      else resolve(result);
    });
  });
}

/** Ends a plain client, because the driver cannot be closed in every state. */
function endPlain({ connectionManager }: PlainClient): void {
  Object.assign(connectionManager, { connect() {}, findNextServer() {} });
  connectionManager.socket?.destroy();
}
