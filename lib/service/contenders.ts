import type { Contender } from '../contract/contender.js';
import type { LeaseMode } from '../contract/lease.js';
import type { LocalCaller } from '../local/local-callers.js';
import type { LocalLine } from '../local/local-line.js';

/** Where callers of one mode stand in this process, if any do. */
type FindLine = (mode: LeaseMode) => LocalLine | undefined;

/**
 * Every contender that the backend knows, in order, and the callers of this process that stand behind its own: those who
 * hold with the one that holds, those who wait with the one that waits, if there is one.
 */
export function withLocalCallers(contenders: readonly Contender[], find: FindLine): Contender[] {
  const shown = new Set<string>();
  return contenders.flatMap((contender) => {
    const { isOwn, mode, state } = contender;
    const line = isOwn && !shown.has(`${mode} ${state}`) ? find(mode) : undefined;
    if (!line) return [contender];
    shown.add(`${mode} ${state}`);
    const hasWaiting = contenders.some((other) => other.isOwn && other.mode === mode && other.state === 'waiting');
    const [first, ...others] = line.callers.filter((caller) => !hasWaiting || caller.state === state);
    const own = first ? asCaller(contender, first) : { ...contender, isKept: state === 'held' && line.isKept };
    return [own, ...others.map((caller) => ({ ...asCaller(contender, caller), isLocal: true }))];
  });
}

/** The contender as it is for one of the callers behind it. */
function asCaller(contender: Contender, { state, label, since }: LocalCaller): Contender {
  return { ...contender, owner: { ...contender.owner, label }, state, since, isKept: false };
}
