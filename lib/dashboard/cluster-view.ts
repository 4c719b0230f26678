import { after } from '../async/timer.js';
import type { Contender } from '../contract/contender.js';
import type { LockBackend } from '../contract/lock-backend.js';
import type { Survey, SurveyedKey } from '../contract/survey.js';
import type { ShownContender, ShownKey, ShownQueue } from './answers.js';
import type { HoldTimeline } from './hold-timeline.js';
import type { KeyNames } from './key-names.js';
import { Shared } from './shared-answer.js';
import { shownOrNull, shownText } from './shown-text.js';

/** The bounds of a survey. */
const BOUNDS = Object.freeze({ mostKeys: 500, mostContenders: 3, withinMs: 200 });
/** The number of keys in one answer. The page is told how many there are. */
const MOST_SHOWN = 200;
const MOST_QUEUES = 200;
/** The number of different prefixes that are surveyed beside the whole. */
const MOST_PREFIXES = 4;
const ONE_SECOND_MS = 1_000;
/** A backend ends a survey in time. If one does not, its answer is not waited for. */
const AT_MOST_MS = 5_000;

/** The cluster as the last survey saw it. */
export interface ClusterFacts {
  readonly keys: readonly ShownKey[];
  readonly queues: readonly ShownQueue[];
  readonly isTruncated: boolean;
  /** The reason why the survey failed; the rest is then older. */
  readonly fault: string | null;
}

/** The parts of a view. */
interface Viewed {
  readonly backend: LockBackend;
  readonly names: KeyNames;
  readonly timeline: HoldTimeline;
  readonly showHosts: boolean;
  /** Absolute keys that are looked at beside the survey. */
  readonly paths: readonly string[];
  readonly signal: AbortSignal;
}

const NOTHING: ClusterFacts = Object.freeze({ keys: [], queues: [], isTruncated: false, fault: null });

/** All wait queues and queues of the cluster: one bounded survey a second, however many look. */
export class ClusterView {
  readonly #viewed: Viewed;
  readonly #whole = new Shared(ONE_SECOND_MS, () => this.#look(undefined));
  readonly #byPrefix = new Map<string, Shared<ClusterFacts>>();
  #last: ClusterFacts = NOTHING;

  constructor(viewed: Viewed) {
    this.#viewed = viewed;
  }

  /** The facts of the last survey. */
  get last(): ClusterFacts {
    return this.#last;
  }

  /** Returns the facts, at most a second old. Never rejects: an outage is a fault among the facts. */
  async facts(): Promise<ClusterFacts> {
    return this.#whole.get();
  }

  /**
   * Returns the keys that contain the text, the most contended first. If the survey could not see all keys, another one
   * begins at this text.
   */
  async matching(text: string): Promise<{ readonly keys: readonly ShownKey[]; readonly total: number }> {
    const { keys, isTruncated } = await this.facts();
    const more = isTruncated && text !== '' ? await this.#beginningWith(text) : [];
    const known = new Set(keys.map(({ id }) => id));
    const found = [...keys, ...more.filter(({ id }) => !known.has(id))].filter((one) => matches(one, text));
    return { keys: found.toSorted(byContention).slice(0, MOST_SHOWN), total: found.length };
  }

  async #beginningWith(prefix: string): Promise<readonly ShownKey[]> {
    const one = this.#byPrefix.get(prefix) ?? new Shared(ONE_SECOND_MS, () => this.#look(prefix));
    this.#byPrefix.delete(prefix);
    this.#byPrefix.set(prefix, one);
    const [oldest] = this.#byPrefix.keys();
    if (this.#byPrefix.size > MOST_PREFIXES && oldest !== undefined) this.#byPrefix.delete(oldest);
    return (await one.get()).keys;
  }

  async #look(prefix: string | undefined): Promise<ClusterFacts> {
    try {
      const survey = await this.#survey(prefix);
      const paths = prefix === undefined ? await this.#ofPaths() : [];
      const facts = this.#shown(survey, paths);
      if (prefix === undefined) this.#seen(facts);
      return facts;
    } catch (error) {
      this.#last = { ...this.#last, fault: shownText(error instanceof Error ? error.message : String(error)) };
      return this.#last;
    }
  }

  async #survey(prefix: string | undefined): Promise<Survey> {
    const { backend, signal } = this.#viewed;
    if (!backend.survey) throw new Error(`the backend "${backend.name}" has no overview of keys`);
    const limit = new AbortController();
    const cancel = after(AT_MOST_MS, () => limit.abort(new Error('the survey took too long')), 'unref');
    try {
      return await backend.survey({ ...BOUNDS, prefix, signal: AbortSignal.any([signal, limit.signal]) });
    } finally {
      cancel();
    }
  }

  /** Looks at the keys outside of the base path. */
  async #ofPaths(): Promise<SurveyedKey[]> {
    const { backend, paths } = this.#viewed;
    const lines = await Promise.all(paths.map(async (key) => ({ key, line: await backend.lineOf(key) })));
    return lines.filter(({ line }) => line.length > 0).map(({ key, line }) => surveyed(key, line));
  }

  #shown({ keys, queues, isTruncated }: Survey, paths: readonly SurveyedKey[]): ClusterFacts {
    const { names } = this.#viewed;
    return {
      keys: [...keys, ...paths].map((one) => this.#shownKey(one)),
      queues: queues.slice(0, MOST_QUEUES).map(({ key, items }) => ({ key: names.shown(key), items })),
      isTruncated,
      fault: null,
    };
  }

  #shownKey({ key, kind, holding, waiting, holders, waiters }: SurveyedKey): ShownKey {
    const { names, showHosts } = this.#viewed;
    return {
      id: names.idOf(key),
      key: names.shown(key),
      kind,
      holding,
      waiting,
      holders: holders.slice(0, BOUNDS.mostContenders).map((one) => shownContender(one, showHosts)),
      waiters: waiters.slice(0, BOUNDS.mostContenders).map((one) => shownContender(one, showHosts)),
      heldSince: earliest(holders),
      waitingSince: earliest(waiters),
    };
  }

  #seen(facts: ClusterFacts): void {
    const { timeline, names } = this.#viewed;
    const at = Date.now();
    const keys = new Set<string>();
    for (const shown of facts.keys) {
      const key = names.keyOf(shown.id) ?? shown.id;
      keys.add(key);
      timeline.surveyed(key, shown, at);
    }
    if (!facts.isTruncated) timeline.missing(keys, at);
    this.#last = facts;
  }
}

/** Returns a contender as the page shows it. */
export function shownContender(contender: Contender, showHosts: boolean): ShownContender {
  const { state, mode, permits, owner, since, isOwn, isLocal, isKept } = contender;
  const at = since.getTime();
  return {
    state,
    mode,
    permits: permits ?? null,
    owner: {
      label: shownOrNull(owner.label),
      host: showHosts ? shownOrNull(owner.host) : null,
      pid: typeof owner.pid === 'number' ? owner.pid : null,
    },
    since: Number.isNaN(at) ? null : at,
    isOwn,
    isLocal,
    isKept,
  };
}

function surveyed(key: string, line: readonly Contender[]): SurveyedKey {
  const holders = line.filter(({ state }) => state === 'held');
  const waiters = line.filter(({ state }) => state === 'waiting');
  const kind = line.some(({ mode }) => mode === 'permit') ? 'semaphore' : 'lock';
  return { key, kind, holders, holding: holders.length, waiters, waiting: waiters.length };
}

function earliest(contenders: readonly Contender[]): number | null {
  const times = contenders.map(({ since }) => since.getTime()).filter((at) => !Number.isNaN(at));
  return times.length === 0 ? null : Math.min(...times);
}

function byContention(one: ShownKey, other: ShownKey): number {
  return (
    other.waiting - one.waiting ||
    age(one.waitingSince) - age(other.waitingSince) ||
    age(one.heldSince) - age(other.heldSince) ||
    one.key.localeCompare(other.key)
  );
}

function matches({ key, holders, waiters }: ShownKey, text: string): boolean {
  if (text === '') return true;
  const owners = [...holders, ...waiters].flatMap(({ owner }) => [owner.label, owner.host]);
  const wanted = text.toLowerCase();
  return [key, ...owners].some((one) => one?.toLowerCase().includes(wanted));
}

/** A number to sort by: what has no beginning comes last. */
function age(since: number | null): number {
  return since ?? Number.MAX_SAFE_INTEGER;
}
