import { SEMAPHORE_PARTS } from '../../../lib/zookeeper/session/contender-name.js';
import type { Hold, Mode } from '../../robustness/model/history.js';
import type { Contender } from './history.js';

/** An ephemeral znode that was made in a run, as the servers had it. */
export interface MadeZnode {
  readonly path: string;
  /** The zxid of its creation. */
  readonly czxid: bigint;
  /** The session that owned it, as text. */
  readonly session: string;
  /** When its creation was agreed on, in true milliseconds. */
  readonly madeAt: number;
  /** When its end was agreed on; nothing, while it stands. */
  readonly goneAt?: number | undefined;
}

const CONTENDER = /^(?<key>.*)\/_c_[^/]*-(?<kind>lock-|__READ__|__WRIT__|latch-)\d{10}$/;
const MODES: Readonly<Record<string, Mode>> = { __READ__: 'read', __WRIT__: 'write' };
const HAND_OVER_BITS = 16n;

/**
 * The lines of all keys, from the znodes that were made: contenders are ordered by their zxids. A grant is known by its token,
 * which is the zxid of its contender with the hand-overs below it. A reader that was the writer stands in the writer's place.
 */
export function contendersOf(znodes: readonly MadeZnode[], holds: readonly Hold[]): Contender[] {
  const granted = grantsOf(holds);
  // The reader's znode has the writer's name and number, and is made in the transaction that removes the writer's.
  const writers = znodes.filter(({ path }) => path.includes('-__WRIT__'));
  const left = new Set(writers.map(({ path, goneAt }) => `${path.replace('-__WRIT__', '-__READ__')} ${goneAt}`));
  return znodes.flatMap(({ path, czxid, session, madeAt, goneAt }) => {
    const { key, kind = '' } = CONTENDER.exec(path)?.groups ?? {};
    const isDowngraded = kind === '__READ__' && left.has(`${path} ${madeAt}`);
    if (key === undefined || isDowngraded) return [];
    const mode = MODES[kind] ?? 'exclusive';
    const own = (granted.get(czxid) ?? []).filter((hold) => isOf(key, hold.key));
    const grants = own.map(({ from }) => from);
    const holds = own.map(({ id }) => id);
    return [{ key, mode, session, order: czxid, madeAt, goneAt, grantedAt: grants[0], grants, holds }];
  });
}

/** What callers of a process began to rely on, by the zxid of its contender, in the order in which they did. */
function grantsOf(holds: readonly Hold[]): Map<bigint, Hold[]> {
  const grants = new Map<bigint, Hold[]>();
  for (const hold of [...holds].sort((one, other) => one.from - other.from)) {
    const { token, kind, isDowngraded } = hold;
    if (kind === 'permits' || kind === 'member' || kind === 'item' || isDowngraded) continue;
    const czxid = token >> HAND_OVER_BITS;
    grants.set(czxid, [...(grants.get(czxid) ?? []), hold]);
  }
  return grants;
}

/**
 * Contenders of several keys may be made in one transaction. Where a key is ends with what it is called; in the place of a
 * semaphore's own queue there is no key, since one of that name has a character encoded.
 */
function isOf(place: string, key: string): boolean {
  if (place.endsWith(`/${SEMAPHORE_PARTS.gate}`)) return false;
  const [at, called] = [place, key].map((text) => `/${decoded(text).replaceAll('#', '')}`) as [string, string];
  return at.endsWith(called);
}

/** Segments of keys that read like something else have a character that is encoded. */
function decoded(text: string): string {
  return text.replaceAll(/%[0-9A-F]{2}/g, (code) => String.fromCharCode(Number.parseInt(code.slice(1), 16)));
}
