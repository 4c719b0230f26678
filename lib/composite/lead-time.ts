// Enough for two round trips to servers that are busy.
const LONGEST_MS = 500;
const SHARE = 1 / 4;
// Less than this is not enough to be told anything.
const SHORTEST_MS = 2;

/** How long before the end of a wait it is asked who holds the key; 0: not at all. */
export function leadTimeMs(waitMs: number): number {
  const leadMs = Math.min(Math.floor(waitMs * SHARE), LONGEST_MS);
  return leadMs < SHORTEST_MS ? 0 : leadMs;
}

/** For how long after the question an answer is to be had for the error: no wait that asked ends later. */
export const LONGEST_LEAD_MS = LONGEST_MS;
