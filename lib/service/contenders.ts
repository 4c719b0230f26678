import type { Contender } from '../contract/contender.js';
import type { LeaseMode } from '../contract/lease.js';
import type { LocalCaller } from '../local/local-callers.js';
import type { LocalLine } from '../local/local-line.js';

/** Where callers of one mode stand in this process, if any do. */
type FindLine = (mode: LeaseMode) => LocalLine | undefined;

/**
 * Every contender that the backend knows, in order, and right behind this process's own of each mode the callers that
 * stand behind it in memory.
 */
export function withLocalCallers(contenders: readonly Contender[], find: FindLine): Contender[] {
  const shown = new Set<LeaseMode>();
  return contenders.flatMap((contender) => {
    const line = contender.isOwn && !shown.has(contender.mode) ? find(contender.mode) : undefined;
    if (!line) return [contender];
    shown.add(contender.mode);
    const [first, ...others] = line.callers;
    const own = first ? asCaller(contender, first) : { ...contender, isKept: line.isKept };
    return [own, ...others.map((caller) => ({ ...asCaller(contender, caller), isLocal: true }))];
  });
}

/** The contender as it is for one of the callers behind it. */
function asCaller(contender: Contender, { state, label, since }: LocalCaller): Contender {
  return { ...contender, owner: { ...contender.owner, label }, state, since, isKept: false };
}
