import { orAbort } from '../async/abort.js';
import { BoundedMap } from '../async/collections.js';
import { now } from '../async/clock.js';
import { limited, LONGEST_LEAD_MS } from '../async/timer.js';
import type { HolderSource } from '../composite/deadline.js';
import type { Contender } from '../contract/contender.js';
import { MOST_HOLDERS } from '../contract/contender.js';
import type { HoldersQuestion, LockBackend } from '../contract/lock-backend.js';
import type { LocalQueues } from '../local/local-queues.js';
import type { LockTarget } from './lock-targets.js';

// A question takes two round trips. These limit the questions, however many waits time out.
const MOST_AT_A_TIME = 32;
const ASKED_AGAIN_AFTER_MS = 100;
// The answer serves the wait that asked, and waits that end a moment later. Timers run late in a busy process.
const LONGEST_USE_MS = 2 * LONGEST_LEAD_MS;

const MODES = ['exclusive', 'write', 'read'] as const;
const NOBODY: readonly Contender[] = [];

/** The state of the question about one key, and its last answer. */
interface Asked {
  askedAt: number;
  isPending: boolean;
  holders: readonly Contender[];
  /** The time of the question that `holders` answers. */
  holdersAsOf: number;
}

/**
 * The holders of keys for time-out errors. Callers of this process are known in memory. The backend is asked about the
 * others shortly before a wait times out, once for all waits on a key.
 */
export class Holders {
  readonly #backend: LockBackend;
  readonly #local: LocalQueues;
  readonly #asked = new BoundedMap<Asked>(8 * MOST_AT_A_TIME);
  #pending = 0;

  constructor(backend: LockBackend, local: LocalQueues) {
    this.#backend = backend;
    this.#local = local;
  }

  /** Returns the source of holders for one target. */
  of(target: LockTarget): HolderSource {
    return { ask: () => this.ask(target), known: () => this.known(target) };
  }

  /** Asks the backend, unless the answer is known or pending. Never throws; the answer is not awaited. */
  ask(target: LockTarget): void {
    if (target.members) return target.members.forEach((member) => this.ask(member));
    if (target.ask || this.#backend.state !== 'connected' || this.#pending >= MOST_AT_A_TIME) return;
    if (excludesAll(this.#ownOf(target))) return;
    const last = this.#asked.get(target.identity);
    if (last && (last.isPending || now() - last.askedAt < ASKED_AGAIN_AFTER_MS)) return;
    void this.#askBackend(target);
  }

  /** Returns the holders, as far as they are known by now. */
  known(target: LockTarget): readonly Contender[] {
    if (target.members) return this.#knownOfSet(target.members);
    const own = this.#ownOf(target);
    if (excludesAll(own)) return own;
    const others = this.#answerAbout(target).filter(
      ({ isOwn, mode }) => !isOwn || !this.#local.find(mode, target.identity)?.hasKey,
    );
    return own.length === 0 ? others : [...own, ...others].slice(0, MOST_HOLDERS);
  }

  /**
   * Returns the known holders of a set's keys. Own contenders of a waiting set are ignored: where they are first, the
   * servers report them as holders.
   */
  #knownOfSet(members: readonly LockTarget[]): readonly Contender[] {
    const all = members.flatMap((member) => {
      const others = this.#answerAbout(member).filter(({ isOwn }) => !isOwn);
      return [...this.#ownOf(member), ...others];
    });
    return all.slice(0, MOST_HOLDERS);
  }

  #answerAbout({ identity }: LockTarget): readonly Contender[] {
    const asked = this.#asked.get(identity);
    return asked && now() - asked.holdersAsOf < LONGEST_USE_MS ? asked.holders : NOBODY;
  }

  /** Returns the callers of this process that hold the key. */
  #ownOf({ identity }: LockTarget): readonly Contender[] {
    for (const mode of MODES) {
      const holders = this.#local.find(mode, identity)?.holders(MOST_HOLDERS);
      if (holders && holders.length > 0) return holders.map(({ label, since }) => ownHolder(mode, label, since));
    }
    return NOBODY;
  }

  async #askBackend({ identity, at, key: name, mode }: LockTarget): Promise<void> {
    const asked = this.#asked.get(identity) ?? {
      askedAt: 0,
      isPending: false,
      holders: NOBODY,
      holdersAsOf: -Infinity,
    };
    this.#asked.set(identity, asked);
    asked.askedAt = now();
    asked.isPending = true;
    this.#pending++;
    const about = { key: at ?? name, of: mode === 'permit' ? 'permits' : 'key', most: MOST_HOLDERS } as const;
    try {
      const holders = await limited(LONGEST_LEAD_MS, undefined, (signal) =>
        orAbort(this.#holdersOf({ ...about, signal }), signal),
      );
      if (holders) Object.assign(asked, { holders, holdersAsOf: asked.askedAt });
    } catch {
      // The wait ends all the same, and its error contains what is known.
    } finally {
      asked.isPending = false;
      this.#pending--;
    }
  }

  async #holdersOf(question: HoldersQuestion): Promise<readonly Contender[]> {
    if (this.#backend.holdersOf) return this.#backend.holdersOf(question);
    const { key, of, most } = question;
    const line = await this.#backend.lineOf(key);
    const isAsked = ({ state, mode }: Contender) => state === 'held' && (mode === 'permit') === (of === 'permits');
    return line.filter(isAsked).slice(0, most);
  }
}

/** Whether no other holder is possible beside these. */
function excludesAll(holders: readonly Contender[]): boolean {
  return holders.some(({ mode }) => mode === 'exclusive' || mode === 'write');
}

function ownHolder(mode: Contender['mode'], label: string | undefined, since: Date): Contender {
  const owner = { pid: process.pid, label };
  return { state: 'held', mode, owner, since, isOwn: true, isLocal: true, isKept: false };
}
