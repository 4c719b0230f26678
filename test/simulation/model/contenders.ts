import { SEMAPHORE_PARTS } from '../../../lib/zookeeper/recipes/contender-znode.js';
import type { Hold, Mode } from '../../robustness/model/history.js';
import type { Contender } from './history.js';

/** An ephemeral znode that was created in a run, as the servers had it. */
export interface MadeZnode {
  readonly path: string;
  /** The zxid of its creation. */
  readonly czxid: bigint;
  /** The session that owned it, as text. */
  readonly session: string;
  /** The time at which its creation was agreed on, in true milliseconds. */
  readonly madeAt: number;
  /** The time at which its deletion was agreed on; `undefined` while it exists. */
  readonly goneAt?: number | undefined;
}

const CONTENDER = /^(?<key>.*)\/_c_[^/]*-(?<kind>lock-|__READ__|__WRIT__|latch-)\d{10}$/;
const MODES: Readonly<Record<string, Mode>> = { __READ__: 'read', __WRIT__: 'write' };
const HAND_OVER_BITS = 16n;

/**
 * The wait queues of all keys, from the created znodes. Contenders are ordered by their zxids. A grant is identified by
 * its token: the zxid of the contender, with the hand-overs in the bits below. A reader that was the writer has the
 * writer's place in the queue.
 */
export function contendersOf(znodes: readonly MadeZnode[], holds: readonly Hold[]): Contender[] {
  const granted = grantsOf(holds);
  // The reader's znode has the writer's name and number. It is created in the transaction that deletes the writer's.
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

/** The holds of a process's callers by the zxid of their contender, in the order in which they began. */
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
 * Whether a contender's directory belongs to a key. Contenders of several keys may be created in one transaction. The
 * path of a key's directory ends with the key. The directory of a semaphore's own queue belongs to no key, because a
 * key of that name has an encoded character.
 */
function isOf(place: string, key: string): boolean {
  if (place.endsWith(`/${SEMAPHORE_PARTS.gate}`)) return false;
  const [at, called] = [place, key].map((text) => `/${decoded(text).replaceAll('#', '')}`) as [string, string];
  return at.endsWith(called);
}

/** Decodes a path. Segments of keys that look like something else have an encoded character. */
function decoded(text: string): string {
  return text.replaceAll(/%[0-9A-F]{2}/g, (code) => String.fromCharCode(Number.parseInt(code.slice(1), 16)));
}
