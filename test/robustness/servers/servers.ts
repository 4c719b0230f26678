import type { FaultProxy } from '../../../lib/testing/index.js';
import type { WakeUps } from '../model/history.js';
import { startEtcdCluster, startEtcdServer } from './etcd-servers.js';
import { startRedisServer } from './redis-servers.js';
import { startEnsemble, startZooKeeperServer } from './zookeeper-servers.js';

/** The backends that can be run. */
export type BackendName = 'zookeeper' | 'redis' | 'etcd';

export const BACKENDS: readonly BackendName[] = ['zookeeper', 'redis', 'etcd'];

/** A server that faults are caused on. */
export interface Breakable {
  kill(): Promise<void>;
  freeze(): Promise<void>;
  thaw(): Promise<void>;
  restart(): Promise<void>;
}

/** A member of a cluster. */
export interface Member extends Breakable {
  readonly name: string;
}

/** Servers that replicate each other. */
export interface Ensemble {
  readonly members: readonly Member[];
  /** Resolves with the leader. There may be none for a while. */
  leader(): Promise<Member>;
  followers(): Promise<readonly Member[]>;
  /** Cuts a member off from the others, and not from its clients. `undefined`: that is not possible here. */
  readonly isolate?: (member: Member) => void;
  /** Ends all isolation. */
  readonly heal?: () => void;
}

/** The servers that the workers of a run use. */
export interface Servers extends AsyncDisposable {
  readonly ports: readonly number[];
  readonly standalone?: Breakable;
  readonly ensemble?: Ensemble;
  openLink(port: number): Promise<FaultProxy>;
  /** Returns what is stored for holders and waiting requests, with `sessions` also for sessions that are open. */
  stored(basePath: string, sessions: boolean): Promise<string[]>;
  /** Counts the waiting requests that a release wakes. `undefined`: the servers do not tell. */
  readonly wakeUps?: () => Promise<WakeUps>;
  /** Ends all faults of the servers. Resolves when all of them serve. */
  restore(): Promise<void>;
}

export async function startServers(kind: 'standalone' | 'ensemble', backend: BackendName): Promise<Servers> {
  switch (backend) {
    case 'zookeeper':
      return kind === 'standalone' ? startZooKeeperServer() : startEnsemble();
    case 'redis':
      return startRedisServer();
    case 'etcd':
      return kind === 'standalone' ? startEtcdServer() : startEtcdCluster();
  }
}
