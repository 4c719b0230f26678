import { onTestFinished } from 'vitest';
import { NodeZooKeeperClient } from '../../../../lib/zookeeper/client/node-zookeeper-client.js';
import { parseConnectString } from '../../../../lib/zookeeper/client/connect-string.js';
import type { Handshake, SessionEnd } from '../../../../lib/zookeeper/client/zookeeper-client.js';
import { deferred } from '../../../../lib/async/deferred.js';
import type { Deferred } from '../../../../lib/async/deferred.js';

interface Told {
  readonly connected: Handshake;
  readonly disconnected: undefined;
  readonly ended: SessionEnd;
}

/** A bare client, and the calls of its listener. Only the requests of the test keep its session alive. */
export interface ObservedClient {
  readonly client: NodeZooKeeperClient;
  /** The kinds of all calls of the listener, in order. */
  readonly told: readonly (keyof Told)[];
  /** Resolves at the next call of this kind, within the same turn. */
  next<K extends keyof Told>(kind: K): Promise<Told[K]>;
  /** Calls `listener` in the turn of each call of this kind. */
  on(kind: keyof Told, listener: () => void): void;
}

export interface ObservedOptions {
  readonly sessionTimeoutMs?: number;
  /** `user:password`. */
  readonly auth?: string;
  /** The scheme of the credentials. Default `digest`. */
  readonly scheme?: string;
  /** Whether the caller closes the client. Otherwise it is closed when the test has finished. */
  readonly isClosedByCaller?: boolean;
}

export function makeClient(connectString: string, options: ObservedOptions = {}): ObservedClient {
  const { sessionTimeoutMs = 4_000, auth, scheme = 'digest', isClosedByCaller = false } = options;
  const told: (keyof Told)[] = [];
  const awaited = new Map<keyof Told, Deferred<never>>();
  const listeners = new Map<keyof Told, () => void>();
  const tell = <K extends keyof Told>(kind: K, what: Told[K]) => {
    told.push(kind);
    listeners.get(kind)?.();
    awaited.get(kind)?.resolve(what as never);
    awaited.delete(kind);
  };
  const client = new NodeZooKeeperClient(
    {
      servers: parseConnectString(connectString).servers,
      sessionTimeoutMs,
      auth: auth === undefined ? [] : [{ scheme, credentials: auth }],
    },
    {
      connected: (handshake) => tell('connected', handshake),
      disconnected: () => tell('disconnected', undefined),
      ended: (why) => tell('ended', why),
      answered() {},
    },
  );
  if (!isClosedByCaller) onTestFinished(() => client.close(1_000));
  return {
    client,
    told,
    next: (kind) => {
      const waiting = awaited.get(kind) ?? deferred<never>();
      awaited.set(kind, waiting);
      return waiting.promise;
    },
    on: (kind, listener) => listeners.set(kind, listener),
  };
}

export async function connectClient(connectString: string, options: ObservedOptions = {}): Promise<ObservedClient> {
  const observed = makeClient(connectString, options);
  const connected = observed.next('connected');
  observed.client.connect();
  await connected;
  return observed;
}
