import { BoundedMap } from '../async/bounded-map.js';
import type { Contender } from '../contract/contender.js';
import { LockTimeoutError } from '../contract/errors.js';
import type { GrantedLease } from '../contract/granted-lease.js';
import type { BackendState, LockBackend, LockBackendDefinition } from '../contract/lock-backend.js';
import type { LockRequest } from '../contract/lock-request.js';
import { NodeZooKeeperClient } from './client/node-zookeeper-client.js';
import { askSessions } from './ask-sessions.js';
import { explained } from './explained-error.js';
import { CounterEndingError, restartCounter } from './recipes/counter.js';
import { lineIn } from './recipes/line-view.js';
import { acquireMutex } from './recipes/mutex.js';
import type { LockDirectory } from './recipes/lock-directory.js';
import { PlaceLostError } from './recipes/place-lost-error.js';
import { acquireReadWrite } from './recipes/read-write-lock.js';
import { acquireSingleNode } from './recipes/single-node.js';
import type { Session } from './session/session.js';
import { SessionEndedError } from './session/session-ended-error.js';
import { SessionSupervisor } from './session/session-supervisor.js';
import { lockPath } from './session/znode-path.js';
import { ZooKeeperElections } from './zookeeper-elections.js';
import type { Recipe } from './zookeeper-elections.js';
import { ZooKeeperRecords } from './zookeeper-records.js';
import { resolveZooKeeperOptions } from './zookeeper.options.js';
import type { ResolvedZooKeeperOptions, ZooKeeperOptions } from './zookeeper.options.js';

const MOST_PATHS = 10_000;

/** Leases by ZooKeeper: requests become recipes on the current session, and are begun again when that one ends. */
export class ZooKeeperBackend implements LockBackend {
  readonly name = 'zookeeper';
  readonly records: ZooKeeperRecords;
  readonly elections: ZooKeeperElections;
  readonly #options: ResolvedZooKeeperOptions;
  readonly #sessions: SessionSupervisor;
  /** Of keys that were asked for lately: to check and encode one is a good part of what asking for it costs. */
  readonly #paths = new BoundedMap<string>(MOST_PATHS);

  constructor(options: ResolvedZooKeeperOptions) {
    this.#options = options;
    const { connect, sessionTimeoutMs, auth, tls, connectTimeoutMs } = options;
    this.#sessions = new SessionSupervisor(
      (listener) => new NodeZooKeeperClient({ servers: connect.servers, sessionTimeoutMs, auth, tls }, listener),
      connectTimeoutMs,
    );
    this.records = new ZooKeeperRecords(this.#sessions, options);
    this.elections = new ZooKeeperElections({
      sessions: this.#sessions,
      identify: (name) => this.identify(name),
      acquireBy: (recipe, request) => this.#acquireBy(recipe, request),
    });
  }

  get state(): BackendState {
    return this.#sessions.state;
  }

  identify(key: string): string {
    const known = this.#paths.get(key);
    if (known !== undefined) return known;
    const path = this.#options.connect.chroot + lockPath(key, this.#options.basePath);
    this.#paths.set(key, path);
    return path;
  }

  async connect(): Promise<void> {
    await this.#sessions.session();
  }

  acquire(request: LockRequest): Promise<GrantedLease | null> {
    return this.#acquireBy(acquireOn, request);
  }

  async lineOf(key: string): Promise<readonly Contender[]> {
    const look = (session: Session, signal: AbortSignal) => lineIn(session, this.identify(key), signal);
    return askSessions(this.#sessions, key, look);
  }

  explain(reason: unknown): unknown {
    // Cut off from the servers, nobody knows whether somebody else still has the key.
    const isCutOff = reason instanceof LockTimeoutError && this.state !== 'connected';
    return isCutOff ? this.#sessions.unavailable(reason.waitMs) : reason;
  }

  async close(): Promise<void> {
    await this.#sessions.close();
  }

  #acquireBy<R extends LockRequest, T>(recipe: Recipe<R, T>, request: R): Promise<T | null> {
    const directory = this.#directoryOf(request.key);
    if (request.wait) return this.#acquireIn(directory, recipe, request);
    // Who asks once does not wait for others, and for the servers no longer than to be told that there are none.
    const inTime = (signal: AbortSignal) => this.#acquireIn(directory, recipe, { ...request, signal });
    return this.#sessions.inTime(inTime, request.signal);
  }

  async #acquireIn<R extends LockRequest, T>(
    directory: LockDirectory,
    recipe: Recipe<R, T>,
    request: R,
  ): Promise<T | null> {
    for (;;) {
      const session = this.#sessions.connected ?? (await this.#sessions.session(request.signal));
      try {
        return await recipe(session, directory, request);
      } catch (error) {
        const goesOn = await canBeginAgain(error, session, directory, request);
        if (goesOn === undefined)
          throw error === request.signal.reason ? this.explain(error) : explained(error, request.key);
        if (!goesOn) return null;
      }
    }
  }

  #directoryOf(key: string): LockDirectory {
    const { acl, parents, releaseTimeoutMs } = this.#options;
    return { path: this.identify(key), acl, parents, releaseTimeoutMs };
  }
}

/**
 * The ZooKeeper backend. Checks its options at once; every application that uses it gets a session of its own.
 * @throws LockConfigurationError that names the wrong field
 */
export function zookeeper(options: ZooKeeperOptions = {}): LockBackendDefinition {
  const resolved = resolveZooKeeperOptions(options);
  return { name: 'zookeeper', create: () => new ZooKeeperBackend(resolved) };
}

/** Whether the caller can line up once more: `undefined` when the error is theirs to know, `false` when not this time. */
async function canBeginAgain(
  error: unknown,
  session: Session,
  { path }: LockDirectory,
  { wait, signal }: LockRequest,
): Promise<boolean | undefined> {
  if (error instanceof SessionEndedError || error instanceof PlaceLostError) return true;
  if (error instanceof CounterEndingError) return restartCounter(session, path, wait, signal).catch(unlessEnded);
  return undefined;
}

function unlessEnded(error: unknown): boolean {
  if (error instanceof SessionEndedError) return true;
  throw error;
}

function acquireOn(session: Session, directory: LockDirectory, request: LockRequest): Promise<GrantedLease | null> {
  const { mode, line } = request;
  if (mode !== 'exclusive') return acquireReadWrite(session, directory, mode, request);
  return line === 'none' ? acquireSingleNode(session, directory, request) : acquireMutex(session, directory, request);
}
