import { byKey, excludes } from './fault-history.js';
import type { FaultHistory, RecordedHold, RecordedWait } from './fault-history.js';

/**
 * Returns every violation of a promise in a history, in words: two believers, a token that does not grow, a write behind
 * a newer one, a wait that was overtaken, a wait without an end, an error that no promise mentions, something left behind.
 */
export function violationsOf(history: FaultHistory): string[] {
  return [
    ...byKey(history.holds).flatMap(twoBelievers),
    ...byKey(history.holds).flatMap(tokensThatDoNotGrow),
    ...byKey(history.writes).flatMap(staleWrites),
    ...byKey(history.waits).flatMap(overtaken),
    ...history.waits.flatMap(badEnd),
    ...history.left.map((what) => `left behind: ${what}`),
  ];
}

function inOrder(holds: readonly RecordedHold[]): RecordedHold[] {
  return [...holds].sort((one, other) => one.from - other.from);
}

/** Two leases that exclude each other were seen to be held at one moment. */
function twoBelievers(holds: readonly RecordedHold[]): string[] {
  const found: string[] = [];
  let believed: RecordedHold[] = [];
  for (const hold of inOrder(holds)) {
    believed = believed.filter(({ seenUntil }) => seenUntil >= hold.from);
    for (const other of believed) {
      if (!excludes(other.mode, hold.mode) || other.isEndedOutside || hold.isEndedOutside) continue;
      const forMs = Math.min(other.seenUntil, hold.seenUntil) - hold.from;
      found.push(`${nameOf(other)} and ${nameOf(hold)} both held "${hold.key}", for ${forMs.toFixed(1)} ms`);
    }
    believed.push(hold);
  }
  return found;
}

/** Readers that were granted together begin in any order, so two of them are not compared. */
function tokensThatDoNotGrow(holds: readonly RecordedHold[]): string[] {
  const ordered = inOrder(holds);
  return ordered.flatMap((hold, place) => {
    const before = ordered
      .slice(0, place)
      .find((other) => excludes(other.mode, hold.mode) && other.token >= hold.token);
    return before ? [`"${hold.key}": ${nameOf(hold)} was granted after ${nameOf(before)}`] : [];
  });
}

/** The store of a key saw an older token after a newer one, from a holder that believed in its lease. */
function staleWrites(writes: FaultHistory['writes']): string[] {
  return writes.flatMap((write, place) => {
    const newer = writes.slice(0, place).find((other) => other.token > write.token && excludes(other.mode, write.mode));
    return newer ? [`"${write.key}": ${nameOf(write)} wrote after ${nameOf(newer)}`] : [];
  });
}

/** A wait that was in the queue before another was requested is granted before it. */
function overtaken(waits: readonly RecordedWait[]): string[] {
  const granted = waits.filter(({ outcome, isOrdered }) => outcome === 'granted' && isOrdered);
  return granted.flatMap((wait) => {
    const { queuedAt = Infinity, endedAt = Infinity } = wait;
    const by = granted.find(
      (other) => excludes(other.mode, wait.mode) && queuedAt <= other.askedAt && (other.endedAt ?? Infinity) < endedAt,
    );
    return by ? [`"${wait.key}": a wait of ${wait.client} was overtaken by a later one of ${by.client}`] : [];
  });
}

function badEnd({ key, client, mode, outcome, error }: RecordedWait): string[] {
  if (outcome === undefined) return [`"${key}": a request of ${client} (${mode}) never ended`];
  return outcome === 'failed' ? [`"${key}": a request of ${client} (${mode}) failed: ${String(error)}`] : [];
}

function nameOf({ client, mode, token }: Pick<RecordedHold, 'client' | 'mode' | 'token'>): string {
  return `${client} (${mode}, token ${token})`;
}
