import type { Following } from './cron-time.js';

const SECOND_MS = 1_000;
// In seconds, more than eight years: as far as cron looks ahead.
const FURTHEST = 2 ** 28;

/**
 * The latest instant, this one included, at which a job was to fire: its nominal tick. Whoever asks between two ticks
 * gets the earlier one, so clocks that differ, and timers that are late, agree. `undefined` before the first one.
 *
 * cron can only look ahead, in whole seconds: doubled steps back find a second from which the next tick is not after
 * `instant`, and halving finds the latest such second.
 */
export function nominalTick(following: Following, instant: number): number | undefined {
  const isBefore = (seconds: number) => following(instant - seconds * SECOND_MS) <= instant;
  let far = 1;
  while (!isBefore(far)) {
    if (far >= FURTHEST) return undefined;
    far *= 2;
  }
  let near = Math.floor(far / 2);
  while (far - near > 1) {
    const middle = Math.floor((near + far) / 2);
    if (isBefore(middle)) far = middle;
    else near = middle;
  }
  return following(instant - far * SECOND_MS);
}
