import { anyAbort, OwnAbortController } from './abort.js';
import { after, LONGEST_TIMER_MS } from './timer.js';

/**
 * What `work` comes to, or `undefined` when that takes longer than `ms`, which its signal tells it; `Infinity`: no limit.
 * @throws what `work` does, `signal.reason`
 */
export async function limited<T>(
  ms: number,
  signal: AbortSignal | undefined,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T | undefined> {
  const limit = new OwnAbortController();
  const cancel = ms > LONGEST_TIMER_MS ? () => {} : after(ms, () => limit.abort(limit));
  const limits = anyAbort([signal, limit.signal]);
  try {
    return await work(limits.signal);
  } catch (error) {
    if (error === limit) return undefined;
    throw error;
  } finally {
    cancel();
    limits.dispose();
  }
}
