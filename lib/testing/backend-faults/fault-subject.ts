import type { LockBackend } from '../../contract/lock-backend.js';
import type { FaultProxy } from '../faults/fault-proxy.js';

/** The connection of a client that a check opens. */
export interface ClientTarget {
  /** The port on 127.0.0.1 to connect to. It is the port of a proxy in front of the server, or of the server itself. */
  readonly port: number;
  /** The session timeout of the client, in milliseconds. */
  readonly sessionTimeoutMs: number;
}

/** The server behind the backend. `RedisServer`, `EtcdServer` and `ZooKeeperServer` are such servers. */
export interface FaultServer {
  /** The port, on 127.0.0.1. */
  readonly port: number;
  /** Stops the server's threads. Its connections remain open, and nothing answers. */
  freeze?(): Promise<void>;
  /** Ends `freeze()`. */
  thaw?(): Promise<void>;
  /** Kills the server, as a crash would. */
  kill?(): Promise<void>;
  /** Starts the server again, with the same port. Resolves when it serves. */
  restart?(): Promise<void>;
}

/**
 * Faults that a subject may be unable to cause:
 * - `pause`: `freeze` and `thaw` of the server
 * - `restart`: `kill` and `restart` of the server
 * - `expire`: the end of a session on the server while its client is connected
 */
export type FaultAbility = 'pause' | 'restart' | 'expire';

/** The backend to check under faults. */
export interface FaultSubject {
  /** Creates one client of the backend's service. Every call creates another client, as other processes would. */
  readonly open: (target: ClientTarget) => LockBackend | Promise<LockBackend>;
  /** Returns the server, which runs by the time of the first check. */
  readonly server: () => FaultServer;
  /** The session timeout of most clients, in milliseconds: the shortest that the service permits, but at least 2 000. */
  readonly sessionTimeoutMs: number;
  /** Ends the session of the client that holds `key`, as the server does. */
  readonly expire?: (key: string) => Promise<void>;
  /** Opens a proxy in front of a port. Default `FaultProxy.open`. */
  readonly openProxy?: (port: number) => Promise<FaultProxy>;
  /** The faults that cannot be caused here, each with its reason. Their checks say so in their titles. */
  readonly without?: Readonly<Partial<Record<FaultAbility, string>>>;
  /**
   * The time limit of every expected event, in milliseconds. The runner's test time-out must be four times as long.
   * Default 20 000.
   */
  readonly limitMs?: number;
}
