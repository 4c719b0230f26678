import type { PermitDemand, SemaphoreSize } from '../contract/lock-request.js';
import type { PermitCounts } from '../contract/semaphore.options.js';
import type { ServingSessions } from '../sessions/backend-sessions.js';
import { inSession } from './session-retry.js';
import type { LockDirectory } from './recipes/lock-directory.js';
import { PermitCount } from './recipes/permit-count.js';
import type { Wanted } from './recipes/semaphore.js';
import type { Session } from './session/session.js';
import { countPath } from './recipes/znode-path.js';
import type { ResolvedZooKeeperOptions } from './zookeeper.options.js';

/** The permit counts of semaphores, and the data that is needed to acquire permits. */
export class ZooKeeperPermits implements PermitCounts {
  readonly #sessions: ServingSessions<Session>;
  readonly #directoryOf: (key: string) => LockDirectory;
  readonly #options: Pick<ResolvedZooKeeperOptions, 'basePath' | 'connect'>;

  constructor(
    sessions: ServingSessions<Session>,
    options: Pick<ResolvedZooKeeperOptions, 'basePath' | 'connect'>,
    directoryOf: (key: string) => LockDirectory,
  ) {
    this.#sessions = sessions;
    this.#options = options;
    this.#directoryOf = directoryOf;
  }

  read(key: string, of: SemaphoreSize): Promise<number> {
    const count = this.#countOf(key, of);
    return this.#ask(key, async (session, signal) => {
      // A server that is behind shows a number that was replaced before the call.
      const look = () => Promise.all([session.requests.sync(count.path), count.read(session.requests)]);
      const [, permits] = await session.persistently(look, signal);
      return permits;
    });
  }

  async set(key: string, of: SemaphoreSize, permits: number): Promise<void> {
    const count = this.#countOf(key, of);
    await this.#ask(key, (session, signal) =>
      session.persistently(() => count.write(session.requests, permits), signal),
    );
  }

  wanted(key: string, { count, of }: PermitDemand): Wanted {
    return { directory: this.#directoryOf(key), count: this.#countOf(key, of), permits: count };
  }

  #countOf(key: string, of: SemaphoreSize): PermitCount {
    const { sharedCount } = of;
    const path = sharedCount === undefined ? undefined : this.#pathOf(sharedCount);
    return new PermitCount(this.#directoryOf(key), of, path);
  }

  #pathOf(sharedCount: string): string {
    const { connect, basePath } = this.#options;
    return connect.chroot + countPath(sharedCount, basePath);
  }

  #ask<T>(key: string, ask: (session: Session, signal: AbortSignal) => Promise<T>): Promise<T> {
    return inSession(this.#sessions, { key, wait: false }, ask);
  }
}
