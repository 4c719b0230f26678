import type { Random } from '../random.js';
import type { Mode } from '../model/history.js';
import type { Watchfulness } from './beliefs.js';
import type { AskKind, LockTraffic } from './orders.js';

/** One request that a client is about to make. */
export interface Ask {
  readonly kind: AskKind;
  readonly keys: readonly string[];
  readonly mode: Mode;
  readonly waitMs: number;
  /** When the caller gives up before its timeout, or `undefined`. */
  readonly abortAfterMs: number | undefined;
  readonly holdMs: number;
  readonly watchfulness: Watchfulness;
  /** Whether it writes without checking the lease first. The register then has to refuse a stale write. */
  readonly isCareless: boolean;
}

/** The longest wait of a decorated method for its lock, in milliseconds. A decorator has one value for all calls. */
export const DECORATED_WAIT_MS = 3_000;

const MOST_KEYS_AT_ONCE = 3;
// So many that each is used every few seconds, which is when directories that were idle are removed.
const SELDOM_KEYS = 200;
// Requests for long-held keys wait, so that there is a waiter to which the key could be granted too early.
const KEPT_KINDS = { mutex: 4, using: 2, write: 1, read: 1 } satisfies LockTraffic['kinds'];
const READ_ONLY_KINDS = { try: 3, read: 1 } satisfies LockTraffic['kinds'];
const TRY_KINDS: readonly AskKind[] = ['try', 'single'];
const PLAIN_KINDS: readonly AskKind[] = ['mutex', 'single', 'multi', 'revoke'];

/** Returns the next request. */
export function nextAsk(random: Random, shape: LockTraffic): Ask {
  return { ...whatOf(random, shape), watchfulness: random.pick(['asks', 'listens']), isCareless: random.chance(0.35) };
}

function whatOf(random: Random, shape: LockTraffic): Omit<Ask, 'watchfulness' | 'isCareless'> {
  if (random.chance(shape.keptShare)) {
    const kind = random.weighted<AskKind>(KEPT_KINDS);
    const [keys, mode, holdMs] = [random.sample(shape.keptKeys, 1), modeOf(kind, random), random.int(...shape.keptMs)];
    return { kind, keys, mode, holdMs, waitMs: shape.keptWaitMs, abortAfterMs: undefined };
  }
  if (random.chance(shape.readOnlyShare)) {
    const kind = random.weighted<AskKind>(READ_ONLY_KINDS);
    const [keys, waitMs] = [random.sample(shape.readOnlyKeys, 1), kind === 'try' ? 0 : random.pick(shape.waitsMs)];
    return { kind, keys, mode: 'read', waitMs, abortAfterMs: undefined, holdMs: random.int(...shape.readOnlyMs) };
  }
  const kind = random.weighted<AskKind>(shape.kinds);
  const count = kind === 'multi' ? random.int(2, MOST_KEYS_AT_ONCE) : 1;
  return {
    kind,
    keys: isSeldom(random, shape) ? seldomKeys(random, count) : random.sample(shape.busyKeys, count),
    mode: modeOf(kind, random),
    waitMs: waitOf(kind, random, shape),
    abortAfterMs: kind === 'aborted' ? random.int(...shape.abortAfterMs) : undefined,
    holdMs: random.int(...shape.busyMs),
  };
}

/** Draws nothing where there are no such keys, so that the traffic of a seed stays as it was. */
function isSeldom(random: Random, { seldomShare = 0 }: LockTraffic): boolean {
  return seldomShare > 0 && random.chance(seldomShare);
}

/** Keys with directories of their own above them, as well. */
function seldomKeys(random: Random, count: number): readonly string[] {
  const first = random.int(0, SELDOM_KEYS - 1);
  return Array.from({ length: count }, (_, at) => {
    const number = (first + at) % SELDOM_KEYS;
    return number % 2 === 0 ? `seldom/${number}` : `seldom/${number}/lock`;
  });
}

function waitOf(kind: AskKind, random: Random, { waitsMs }: LockTraffic): number {
  if (kind === 'decorated') return DECORATED_WAIT_MS;
  return TRY_KINDS.includes(kind) ? 0 : random.pick(waitsMs);
}

function modeOf(kind: AskKind, random: Random): Mode {
  if (kind === 'read' || kind === 'write') return kind;
  return PLAIN_KINDS.includes(kind) ? 'exclusive' : random.pick(['exclusive', 'read', 'write']);
}
