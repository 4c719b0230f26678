import type { Contender } from '../contract/contender.js';
import type { LeaseMode } from '../contract/lease.js';
import type { LocalCaller } from '../local/local-callers.js';
import type { LocalLine } from '../local/local-line.js';

/** Where callers of one mode stand in this process, if any do. */
type FindLine = (mode: LeaseMode) => Pick<LocalLine, 'callers' | 'isKept'> | undefined;

/**
 * Every contender that the backend knows, in order, and the callers of this process behind its own: those that hold
 * with the contender that holds, those that wait with the one that waits, if there is one. A contender stays in the list
 * as it is while none of its callers is in its state: the key is kept, or on its way to a caller.
 */
export function withLocalCallers(contenders: readonly Contender[], find: FindLine): Contender[] {
  const shown = new Set<string>();
  return contenders.flatMap((contender) => {
    const { isOwn, mode, state } = contender;
    const line = isOwn && !shown.has(`${mode} ${state}`) ? find(mode) : undefined;
    if (!line) return [contender];
    shown.add(`${mode} ${state}`);
    const hasWaiting = contenders.some((other) => other.isOwn && other.mode === mode && other.state === 'waiting');
    const callers = line.callers.filter((caller) => !hasWaiting || caller.state === state);
    const first = callers[0]?.state === state ? callers.shift() : undefined;
    const own = first ? asCaller(contender, first) : { ...contender, isKept: state === 'held' && line.isKept };
    return [own, ...callers.map((caller) => ({ ...asCaller(contender, caller), isLocal: true }))];
  });
}

/** The contender as it is for one of the callers behind it. */
function asCaller(contender: Contender, { state, label, since }: LocalCaller): Contender {
  return { ...contender, owner: { ...contender.owner, label }, state, since, isKept: false };
}
