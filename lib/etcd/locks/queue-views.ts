import { after } from '../../async/timer.js';
import type { Dispose } from '../../async/abort.js';
import type { EtcdSession } from '../session/etcd-session.js';
import type { QueueKeys } from '../session/etcd-keys.js';
import type { Watches } from '../session/watches.js';
import { QueueView } from './queue-view.js';
import type { QueueState, ViewFollower } from './queue-view.js';

/** The time for which a copy is kept that nothing uses: most often it is used again soon. */
const LINGER_MS = 100;

/** The copies of wait queues that this process keeps for one session after the other. */
export class QueueViews {
  readonly #watches: Watches;
  readonly #lookEveryMs: number;
  #views = new Map<string, QueueView>();
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
    const view = views.get(name) ?? new QueueView(session, this.#watches, queue, this.#lookEveryMs);
    views.set(name, view);
    const leave = view.follow(follower, state);
    return () => {
      leave();
      if (view.isUnused) after(LINGER_MS, () => endUnused(views, name, view), 'unref');
    };
  }

  #use(session: EtcdSession): void {
    const views = new Map<string, QueueView>();
    this.#session = session;
    this.#views = views;
    session.onEnd(() => {
      for (const view of views.values()) view.end();
      views.clear();
    });
  }
}

function endUnused(views: Map<string, QueueView>, name: string, view: QueueView): void {
  if (!view.isUnused || views.get(name) !== view) return;
  view.end();
  views.delete(name);
}
