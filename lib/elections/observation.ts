import { backoff } from '../async/backoff.js';
import { pause } from '../async/timer.js';
import { LockUnavailableError } from '../contract/errors.js';
import type { Sighting } from '../contract/elections.js';
import type { Leader } from '../contract/leader.js';

const FIRST_PAUSE_MS = 100;
const LONGEST_PAUSE_MS = 5_000;

/**
 * Who leads now, then whoever leads next, or proclaims something else. What came and went between two looks is left out:
 * the latest counts.
 * @param look rejects with `signal.reason`, and leaves no watch
 */
export async function* observation(
  look: () => Promise<Sighting>,
  signal: AbortSignal,
): AsyncGenerator<Leader | null, void, undefined> {
  let sighting = await look();
  for (;;) {
    const { leader } = sighting;
    yield leader;
    signal.throwIfAborted();
    do sighting = await next(sighting, look, signal);
    while (isSame(leader, sighting.leader));
  }
}

/** What is seen when there was news. While the servers are out of reach nothing is, and nothing is known to be otherwise. */
async function next({ changed }: Sighting, look: () => Promise<Sighting>, signal: AbortSignal): Promise<Sighting> {
  const pauses = backoff(FIRST_PAUSE_MS, LONGEST_PAUSE_MS);
  for (;;) {
    try {
      await changed(signal);
      return await look();
    } catch (error) {
      if (!(error instanceof LockUnavailableError) || signal.aborted) throw error;
    }
    await pause(pauses.next(), signal);
  }
}

function isSame(one: Leader | null, other: Leader | null): boolean {
  if (one === null || other === null) return one === other;
  const isSameTerm = one.fencingToken === other.fencingToken && one.since.getTime() === other.since.getTime();
  return isSameTerm && one.value === other.value;
}
