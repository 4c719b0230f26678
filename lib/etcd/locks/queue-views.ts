import { after } from '../../async/timer.js';
import type { Dispose } from '../../async/abort.js';
import type { EtcdSession } from '../session/etcd-session.js';
import type { QueueKeys } from '../session/etcd-keys.js';
import type { Watches } from '../session/watches.js';
import { QueueView } from './queue-view.js';
import type { QueueState, ViewFollower } from './queue-view.js';

/** The time for which a copy is kept that nothing uses: most often it is used again soon. */
const LINGER_MS = 100;

/** A copy, and what ends it soon if it is not used again. */
interface Kept {
  readonly view: QueueView;
  cancelEnd: Dispose;
}

/** The copies of wait queues that this process keeps for one session after the other. */
export class QueueViews {
  readonly #watches: Watches;
  readonly #lookEveryMs: number;
  #views = new Map<string, Kept>();
  #session: EtcdSession | undefined;

  constructor(watches: Watches, lookEveryMs: number) {
    this.#watches = watches;
    this.#lookEveryMs = lookEveryMs;
  }

  /** Follows an entry of the session until disposed. @param state the queue as it was found, if it was read */
  follow(session: EtcdSession, queue: QueueKeys, follower: ViewFollower, state?: QueueState): Dispose {
    if (this.#session !== session) this.#use(session);
    // The permits of one key can have their number in different places.
    const name = `${queue.entries} ${queue.number ?? ''}`;
    const views = this.#views;
    const kept = views.get(name) ?? {
      view: new QueueView(session, this.#watches, queue, this.#lookEveryMs),
      cancelEnd: () => {},
    };
    views.set(name, kept);
    const { view } = kept;
    kept.cancelEnd();
    const leave = view.follow(follower, state);
    const end = () => {
      view.end();
      if (views.get(name) === kept) views.delete(name);
    };
    return () => {
      leave();
      kept.cancelEnd();
      if (view.isUnused) kept.cancelEnd = after(LINGER_MS, end, 'unref');
    };
  }

  #use(session: EtcdSession): void {
    const views = new Map<string, Kept>();
    this.#session = session;
    this.#views = views;
    session.onEnd(() => {
      for (const { view, cancelEnd } of views.values()) {
        cancelEnd();
        view.end();
      }
      views.clear();
    });
  }
}
