import { LockConfigurationError, LockUnavailableError } from '../contract/errors.js';
import type { GrantedLease } from '../contract/granted-lease.js';
import type { BackendState, LockBackend, LockBackendDefinition } from '../contract/lock-backend.js';
import type { LockRequest } from '../contract/lock-request.js';
import { NodeZooKeeperClient } from './client/node-zookeeper-client.js';
import { acquireMutex } from './recipes/mutex.js';
import type { Place } from './recipes/place.js';
import { PlaceLostError } from './recipes/place-lost-error.js';
import { acquireReadWrite } from './recipes/read-write-lock.js';
import { acquireSingleNode } from './recipes/single-node.js';
import { isKeeperError, KeeperError } from './session/requests.js';
import type { Session } from './session/session.js';
import { SessionEndedError } from './session/session-ended-error.js';
import { SessionSupervisor } from './session/session-supervisor.js';
import { lockPath } from './session/znode-path.js';
import { resolveZooKeeperOptions } from './zookeeper.options.js';
import type { ResolvedZooKeeperOptions, ZooKeeperOptions } from './zookeeper.options.js';

/** Leases by ZooKeeper: requests become recipes on the current session, and are begun again when that one ends. */
export class ZooKeeperBackend implements LockBackend {
  readonly name = 'zookeeper';
  readonly #options: ResolvedZooKeeperOptions;
  readonly #sessions: SessionSupervisor;

  constructor(options: ResolvedZooKeeperOptions) {
    this.#options = options;
    const { connect, sessionTimeoutMs, auth, connectTimeoutMs } = options;
    this.#sessions = new SessionSupervisor(
      (listener) => new NodeZooKeeperClient({ servers: connect.servers, sessionTimeoutMs, auth }, listener),
      connectTimeoutMs,
    );
  }

  get state(): BackendState {
    return this.#sessions.state;
  }

  identify(key: string): string {
    return this.#options.connect.chroot + lockPath(key, this.#options.basePath);
  }

  async connect(): Promise<void> {
    await this.#sessions.session();
  }

  async acquire(request: LockRequest): Promise<GrantedLease | null> {
    const place = this.#placeOf(request.key);
    for (;;) {
      const session = await this.#sessions.session(request.signal);
      try {
        return await acquireOn(session, place, request);
      } catch (error) {
        // The place in line is gone, but not the caller: once more from the end of the line.
        if (!(error instanceof SessionEndedError) && !(error instanceof PlaceLostError))
          throw explained(error, request);
      }
    }
  }

  async close(): Promise<void> {
    await this.#sessions.close();
  }

  #placeOf(key: string): Place {
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

function acquireOn(session: Session, place: Place, request: LockRequest): Promise<GrantedLease | null> {
  if (request.mode !== 'exclusive') return acquireReadWrite(session, place, request.mode, request);
  return request.line === 'none' ? acquireSingleNode(session, place, request) : acquireMutex(session, place, request);
}

/** An answer of the servers as the error that tells the caller what to do. */
function explained(error: unknown, { key }: LockRequest): unknown {
  if (!(error instanceof KeeperError)) return error;
  const details = { key, cause: error };
  const isRefused = isKeeperError(error, 'noAuth') || isKeeperError(error, 'invalidAcl');
  const message = `"${key}": ${error.message}`;
  return isRefused
    ? new LockConfigurationError(`${message}; check the auth and acl options of zookeeper()`, details)
    : new LockUnavailableError(message, details);
}
