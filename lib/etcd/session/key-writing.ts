/**
 * Conditional writes of several keys in one transaction, each applied once.
 * Lost replies: the keys are read again, over the next link, on which a request of the former one has no effect any
 * more. Revisions never restart, as versions do. So a key that the write would have changed, and that still has the
 * revision at which it was read, shows that the write was not applied. A key with the write's id shows that it was.
 * Marks: a removal leaves nothing to be seen, nor does a write that only makes keys, once others have removed them. Such
 * a write also makes a key that ends with the session, and is removed after the answer.
 * Refusals: a server that finds its database full when it applies a write applies it all the same.
 */
import { LinkLostError, RefusedError, isUndecided } from '../client/etcd-error.js';
import { UNCHANGED } from '../../contract/record-store.js';
import type { Op } from '../wire/requests.js';
import type { KeyValue } from '../wire/responses.js';
import type { DoubtedCall, EtcdSession } from './etcd-session.js';
import { MOST_OPERATIONS } from './outbox.js';

type Found = KeyValue | undefined;
type Value = string | Buffer | undefined | typeof UNCHANGED;

/** One change of a write. */
export interface KeyChange {
  readonly key: string;
  /** The version that the key must have, counted from 0. `undefined`: the key may have any, and may be absent. */
  readonly ifVersion: number | 'absent' | undefined;
  /** Returns the new value; `undefined` removes the key. */
  valueFor(found: Found): Value;
  /** Whether the value was written by this write. */
  isOwn(found: KeyValue): boolean;
}

/** The result of a write: the place of a change that could not be made, or the values and what they have replaced. */
export type KeyWrite =
  { readonly conflict: number } | { readonly found: readonly Found[]; readonly values: readonly Value[] };

interface Attempt {
  readonly session: EtcdSession;
  readonly found: readonly Found[];
  readonly values: readonly Value[];
  /** The key that shows that it was applied. `undefined`: others show whether it was. */
  readonly mark: string | undefined;
}

/** An attempt whose outcome is not known. */
interface AttemptInDoubt extends Attempt {
  /** Settles when it is applied, or cannot be applied any more. */
  readonly sent: Promise<unknown> | undefined;
  /** The answer, which leaves open whether it was applied. `undefined`: the answer was lost. */
  readonly refusal: RefusedError | undefined;
}

/** One write, with as many attempts, links and sessions as it takes to know its outcome. */
export class KeyWriting {
  readonly #changes: readonly KeyChange[];
  readonly #keys: readonly string[];
  #inDoubt: AttemptInDoubt | undefined;

  constructor(changes: readonly KeyChange[]) {
    this.#changes = changes;
    this.#keys = changes.map(({ key }) => key);
  }

  /** Whether an error of the write leaves open whether it was applied. */
  get isInDoubt(): boolean {
    return this.#inDoubt !== undefined;
  }

  /**
   * Makes the write. After the end of the session, it is to be called with the next one.
   * @throws SessionEndedError, `signal.reason`, and RefusedError or LinkLostError also when the outcome cannot be known
   */
  async on(session: EtcdSession, signal: AbortSignal): Promise<KeyWrite> {
    return this.#write(session, signal).catch((error: unknown) => {
      // Nobody finds its outcome out, unless its session is over, and the mark with it.
      if (this.#inDoubt) removeMark(this.#inDoubt);
      throw error;
    });
  }

  async #write(session: EtcdSession, signal: AbortSignal): Promise<KeyWrite> {
    for (;;) {
      const inDoubt = this.#inDoubt;
      const found = inDoubt
        ? await this.#findOut(inDoubt, session, signal)
        : await readKeys(session, this.#keys, signal);
      if (found === 'applied') return settled(inDoubt as Attempt);
      const conflict = this.#changes.findIndex((change, place) => !isMet(change, found[place]));
      if (conflict >= 0) return { conflict };
      const values = this.#changes.map((change, place) => change.valueFor(found[place]));
      const attempt = { session, found, values, mark: markFor(session, found, values) };
      if (await this.#send(attempt, signal)) return settled(attempt);
    }
  }

  /** Resolves with whether the attempt was applied. `false`: it was not, or that is in doubt. */
  async #send(attempt: Attempt, signal: AbortSignal): Promise<boolean> {
    const { session, found, values, mark } = attempt;
    const keys = this.#keys;
    const ops = keys.flatMap((key, place) => opOf(key, values[place]));
    const change = {
      about: mark === undefined ? keys : [...keys, mark],
      compare: keys.map((key, place) => {
        return { key, property: 'modified', is: 'equal', than: found[place]?.modified ?? 0 } as const;
      }),
      success:
        mark === undefined ? ops : [...ops, { kind: 'put', key: mark, value: '', lease: session.lease } as const],
      failure: [],
    };
    const call: DoubtedCall = { signal, doubt: { isSo: false }, isOnce: true };
    try {
      return (await session.change(change, call)).isMet;
    } catch (error) {
      const refusal = isUndecided(error) ? error : undefined;
      if (call.doubt.isSo || refusal) this.#inDoubt = { ...attempt, sent: call.sent, refusal };
      if (!refusal && !(error instanceof LinkLostError)) throw error;
      return false;
    }
  }

  /**
   * Reads the keys of an attempt in doubt, unless they show that it was applied.
   * @throws its refusal, or LinkLostError, when it was not applied or that cannot be known
   */
  async #findOut(
    attempt: AttemptInDoubt,
    session: EtcdSession,
    signal: AbortSignal,
  ): Promise<readonly Found[] | 'applied'> {
    const { isAlive, isMarked } = await lookBeside(attempt, session, signal);
    const found = await readKeys(session, this.#keys, signal);
    if (isMarked || found.some((kv, place) => kv && this.#changes[place]?.isOwn(kv))) return 'applied';
    const { mark, refusal } = attempt;
    // A mark that is missing shows something while the session lives: they end together.
    const isKnown = (mark !== undefined && isAlive) || wasNotApplied(attempt, found);
    if (!isKnown) throw refusal ?? new LinkLostError('it was lost with an answer');
    this.#inDoubt = undefined;
    if (refusal) throw refusal;
    return found;
  }
}

/** Reads keys as of one moment. */
export async function readKeys(
  session: EtcdSession,
  keys: readonly string[],
  signal: AbortSignal,
): Promise<readonly Found[]> {
  for (;;) {
    try {
      return await readAtOnce(session, keys, signal);
    } catch (error) {
      // A server that is behind, or that has compacted between two parts of the read.
      if (!(error instanceof RefusedError && (error.isFuture || error.isCompacted))) throw error;
    }
  }
}

async function readAtOnce(
  session: EtcdSession,
  keys: readonly string[],
  signal: AbortSignal,
): Promise<readonly Found[]> {
  const found: Found[] = [];
  let at: number | undefined;
  for (let first = 0; first < keys.length; first += MOST_OPERATIONS) {
    const reads = keys.slice(first, first + MOST_OPERATIONS).map((key) => ({
      kind: 'read' as const,
      key,
      ...(at !== undefined && { revision: at }),
    }));
    const { results, revision } = await session.read(reads, signal);
    at ??= revision;
    found.push(...results.map((result) => result.found[0]));
  }
  return found;
}

/** Returns the result of an attempt that was applied. */
function settled({ session, found, values, mark }: Attempt): KeyWrite {
  if (mark !== undefined) void session.remove([mark]);
  return { found, values };
}

/** Removes the mark of an attempt in doubt, once it cannot be made any more. It ends with its session at the latest. */
function removeMark({ session, mark, sent = Promise.resolve() }: AttemptInDoubt): void {
  if (mark === undefined || session.isOver) return;
  const remove = () => session.remove([mark]);
  void sent.then(remove, remove);
}

/** Whether the change may be made to the key as it was found. */
function isMet({ ifVersion }: KeyChange, found: Found): boolean {
  if (ifVersion === undefined) return true;
  // etcd counts writes from 1.
  return ifVersion === 'absent' ? found === undefined : found?.version === ifVersion + 1;
}

function opOf(key: string, value: Value): readonly Op[] {
  if (value === UNCHANGED) return [];
  return value === undefined ? [{ kind: 'delete', key }] : [{ kind: 'put', key, value }];
}

/** Whether a value makes, changes or removes the key. */
function isEffective(value: Value, found: Found): boolean {
  return value !== UNCHANGED && (value !== undefined || found !== undefined);
}

/** Returns the mark of a write that only makes and removes keys. `undefined` for one that changes a key, or nothing. */
function markFor(session: EtcdSession, found: readonly Found[], values: readonly Value[]): string | undefined {
  const effects = found.flatMap((kv, place) => (isEffective(values[place], kv) ? [{ kv, value: values[place] }] : []));
  if (effects.length === 0 || effects.some(({ kv, value }) => kv !== undefined && value !== undefined))
    return undefined;
  return `${session.key}-wrote-${session.newName()}`;
}

/** Whether a key that the attempt would have changed is as before, or it would have changed none. */
function wasNotApplied({ found, values }: Attempt, now: readonly Found[]): boolean {
  const isEffect = values.map((value, place) => isEffective(value, found[place]));
  const isAsBefore = (kv: Found, place: number) =>
    isEffect[place] === true && kv !== undefined && kv.modified === now[place]?.modified;
  return !isEffect.includes(true) || found.some(isAsBefore);
}

/**
 * Reads the keys that end with the session of an attempt. If that is a former one, its requests, which the servers may
 * not have ended yet, have no effect any more from that moment.
 */
async function lookBeside(
  { session: former, mark }: Attempt,
  session: EtcdSession,
  signal: AbortSignal,
): Promise<{ readonly isAlive: boolean; readonly isMarked: boolean }> {
  const beside = mark === undefined ? [former.key] : [former.key, mark];
  const reads = beside.map((key): Op => ({ kind: 'read', key, only: 'count' }));
  const success = former === session ? reads : [...reads, { kind: 'delete', key: former.key } as const];
  const { results } = await session.change({ about: beside, compare: [], success, failure: [] }, { signal });
  const [isAlive = false, isMarked = false] = results.map((result) => result.kind === 'read' && result.count > 0);
  return { isAlive, isMarked: mark !== undefined && isMarked };
}
