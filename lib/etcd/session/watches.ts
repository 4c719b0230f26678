import { onAbort } from '../../async/abort.js';
import type { Dispose } from '../../async/abort.js';
import { after } from '../../async/timer.js';
import { deferred } from '../../async/deferred.js';
import type { Deferred } from '../../async/deferred.js';
import type { EtcdLink } from '../client/etcd-link.js';
import type { KeyRange } from '../wire/requests.js';
import type { WatchEvent, WatchResponse } from '../wire/responses.js';

/** A listener for the changes of a range. */
export interface RangeListener {
  /** Called with changes, in their order. None is missing, and none comes twice. */
  changed(events: readonly WatchEvent[]): void;
  /**
   * Called when the server has forgotten changes that were not seen: the range has to be read again.
   * @param compactRevision later changes are seen
   */
  missed(compactRevision: number): void;
}

interface Watch {
  /** The name that the servers know it by. */
  id: number;
  readonly range: KeyRange;
  readonly listener: RangeListener;
  readonly created: Deferred<number>;
  /** The revision of the next change that was not seen; 0: the server's next one. */
  next: number;
}

/** Watches of ranges, over one link after the other. */
export class Watches {
  readonly #watches = new Map<number, Watch>();
  #link: EtcdLink | undefined;
  #numbers = 0;

  /** Uses another link from now on. All watches go on where they were. */
  linkedBy(link: EtcdLink): void {
    this.#link = link;
    link.watchBy((response) => this.#received(link, response));
    for (const [id, { range, next }] of this.#watches) link.watch(id, range, next);
  }

  /**
   * Watches a range until disposed, from now on. `created` resolves with the revision after which no change is missed.
   * A watch from an earlier revision would have to catch up first, for which servers take up to 100 ms.
   */
  watch(range: KeyRange, listener: RangeListener): { readonly created: Promise<number>; end: Dispose } {
    const watch: Watch = { id: ++this.#numbers, range, listener, created: deferred(), next: 0 };
    this.#watches.set(watch.id, watch);
    this.#link?.watch(watch.id, range, 0);
    const end = () => {
      if (this.#watches.delete(watch.id)) this.#link?.unwatch(watch.id);
    };
    return { created: watch.created.promise, end };
  }

  #received(link: EtcdLink, { id, revision, events, ...response }: WatchResponse): void {
    if (this.#link !== link) return;
    const watch = this.#watches.get(id);
    if (response.isCanceled) this.#canceled(link, id, response);
    if (!watch) return;
    if (response.isCreated) {
      // From now on it is known where to go on after a fault.
      if (watch.next === 0) watch.next = revision + 1;
      watch.created.resolve(revision);
    }
    const last = events.at(-1);
    if (!last) return;
    // The answer's own revision may be that of changes which follow in the next answer.
    watch.next = last.kv.modified + 1;
    watch.listener.changed(events);
  }

  #canceled(link: EtcdLink, id: number, { compactRevision, reason }: Partial<WatchResponse>): void {
    const watch = this.#watches.get(id);
    if (compactRevision && watch) {
      watch.next = compactRevision;
      this.#rename(watch);
      link.unwatch(id);
      link.watch(watch.id, watch.range, watch.next);
      watch.listener.missed(compactRevision);
      // An own request to end a watch is answered as well.
    } else if (watch || reason) link.close(`the server has ended a watch: ${reason || 'no reason given'}`);
  }

  /** The server keeps the id of a watch that it has ended by itself, and refuses a second one of that id. */
  #rename(watch: Watch): void {
    this.#watches.delete(watch.id);
    watch.id = ++this.#numbers;
    this.#watches.set(watch.id, watch);
  }
}

/** Either the result of a look, or the time after which another one may differ. */
export type Look<T> = { readonly found: T } | { readonly againInMs: number };

/**
 * Looks again and again until `look` returns a result: at each change of the range, and at the latest after the time
 * that it returns.
 * @throws what `look` throws, `signal.reason`
 */
export async function watchUntil<T>(
  watches: Watches,
  range: KeyRange,
  signal: AbortSignal,
  look: () => Promise<Look<T>>,
): Promise<T> {
  signal.throwIfAborted();
  let hasChanged = true;
  let wake = () => {};
  const changed = () => {
    hasChanged = true;
    wake();
  };
  const { created, end } = watches.watch(range, { changed, missed: changed });
  // A change between the first look and the creation of the watch is seen by the look that follows it.
  void created.then(changed);
  try {
    for (;;) {
      hasChanged = false;
      const seen = await look();
      if ('found' in seen) return seen.found;
      if (!hasChanged && !signal.aborted) await orWoken(seen.againInMs, signal, (resume) => (wake = resume));
      signal.throwIfAborted();
    }
  } finally {
    end();
  }
}

/** Resolves after `ms`, when the signal aborts, or when the function that `give` gets is called. */
function orWoken(ms: number, signal: AbortSignal, give: (resume: () => void) => void): Promise<void> {
  return new Promise((resolve) => {
    const resume = () => {
      cancel();
      dispose();
      resolve();
    };
    const cancel = after(Math.max(ms, 1), resume);
    const dispose = onAbort(signal, resume);
    give(resume);
  });
}
