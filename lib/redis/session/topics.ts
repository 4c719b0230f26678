import { onAbort, orAbort } from '../../async/abort.js';
import type { Dispose } from '../../async/abort.js';
import { after } from '../../async/timer.js';
import type { RedisLink } from '../client/redis-link.js';

/**
 * Channels on which changes are announced. A watcher is called at each announcement, and whenever one may have been
 * missed.
 */
export class Topics {
  readonly #watchers = new Map<string, Set<() => void>>();
  #link: RedisLink | undefined;

  /** Uses another link from now on. */
  linkedBy(link: RedisLink): void {
    this.#link = link;
    for (const channel of this.#watchers.keys()) void this.#subscribe(channel);
  }

  /** Calls back at each change, until disposed. Resolves when no later change can be missed without a call. */
  async watch(channel: string, onChange: () => void): Promise<Dispose> {
    const watchers = this.#watchers.get(channel);
    const all = watchers ?? new Set();
    this.#watchers.set(channel, all.add(onChange));
    // A watcher that is added later may come before the server's answer to the first.
    await this.#subscribe(channel);
    return () => {
      all.delete(onChange);
      if (all.size > 0 || this.#watchers.get(channel) !== all) return;
      this.#watchers.delete(channel);
      this.#link?.unsubscribe(channel);
    };
  }

  // A link that is lost is followed by another one, on which the channel is subscribed again.
  async #subscribe(channel: string): Promise<void> {
    const changed = () => this.#watchers.get(channel)?.forEach((onChange) => onChange());
    const isSubscribed = await this.#link?.subscribe(channel, changed).then(
      () => true,
      () => false,
    );
    if (isSubscribed) changed();
  }
}

/**
 * Looks again and again until `look` returns a result: at each change, and at the latest after the time that it
 * returns.
 * @throws what `look` throws, `signal.reason`
 */
export async function watchUntil<T>(
  topics: Topics,
  channel: string,
  signal: AbortSignal,
  look: () => Promise<{ readonly found: T } | { readonly againInMs: number }>,
): Promise<T> {
  signal.throwIfAborted();
  let hasChanged = true;
  let wake = () => {};
  const watching = topics.watch(channel, () => {
    hasChanged = true;
    wake();
  });
  const dispose = await orAbort(watching, signal).catch((reason: unknown) => {
    void watching.then((late) => late());
    throw reason;
  });
  try {
    for (;;) {
      hasChanged = false;
      const seen = await look();
      if ('found' in seen) return seen.found;
      if (!hasChanged && !signal.aborted) await orWoken(seen.againInMs, signal, (resume) => (wake = resume));
      signal.throwIfAborted();
    }
  } finally {
    dispose();
  }
}

/** Resolves after `ms`, when the signal aborts, or when the function that `give` gets is called. */
function orWoken(ms: number, signal: AbortSignal, give: (resume: () => void) => void): Promise<void> {
  return new Promise((resolve) => {
    const cancel = after(Math.max(ms, 1), () => resume());
    const dispose = onAbort(signal, () => resume());
    const resume = () => {
      cancel();
      dispose();
      resolve();
    };
    give(resume);
  });
}
