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

/** A bare client, and what it told its listener. Nothing keeps its session alive but what is asked of it. */
export interface ObservedClient {
  readonly client: NodeZooKeeperClient;
  /** All that was told, in order. */
  readonly told: readonly (keyof Told)[];
  /** The next time that it is told; within the same turn. */
  next<K extends keyof Told>(kind: K): Promise<Told[K]>;
  /** Called in the turn in which it is told. */
  on(kind: keyof Told, listener: () => void): void;
}

export interface ObservedOptions {
  readonly sessionTimeoutMs?: number;
  /** `user:password`. */
  readonly auth?: string;
  /** Of the credentials; default `digest`. */
  readonly scheme?: string;
  /** Whether the caller closes it; otherwise it is closed when the test has finished. */
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
