import { orTimeout } from '../async/timer.js';
import type { Contender } from '../contract/contender.js';
import { LockUnavailableError } from '../contract/errors.js';
import type { LockService } from '../service/lock.service.js';
import type { LockSurvey, LockSurveyKey } from '../service/survey.js';
import type { ShownContender, ShownKey, ShownQueue } from './answers.js';
import type { HoldTimeline, SeenHolders } from './hold-timeline.js';
import type { KeyNames } from './key-names.js';
import { shownOrNull } from './shown-text.js';
import { NoTurnError, SurveyTurns } from './survey-turns.js';

/** The bounds of a survey. */
const BOUNDS = Object.freeze({ mostKeys: 500, mostContenders: 3, withinMs: 200 });
/** The number of keys in one answer. The page is told how many there are. */
const MOST_SHOWN = 200;
const MOST_QUEUES = 200;
const LONGEST_MS = 2_000;

/** The cluster as the last survey saw it. */
export interface ClusterFacts {
  readonly keys: readonly ShownKey[];
  readonly queues: readonly ShownQueue[];
  readonly isTruncated: boolean;
  /** The reason why the survey failed; the rest is then older. */
  readonly fault: string | null;
  /** The first of the `paths` that could not be looked at, and the reason. */
  readonly pathFault: string | null;
}

/** The findings of the survey that begins at a text. */
interface More {
  readonly keys: readonly ShownKey[];
  /** Whether it has not answered yet. */
  readonly isAwaited: boolean;
  /** The reason why it failed. */
  readonly fault: string | null;
}

interface Matches extends More {
  /** The number of keys, shown or not. */
  readonly total: number;
}

/** The keys outside of the base path. */
interface PathFacts {
  readonly keys: readonly LockSurveyKey[];
  /** The keys that could not be looked at, and the reason for the first. */
  readonly unseen: readonly string[];
  readonly fault: string | null;
}

/** The parts of a view. */
interface Viewed {
  readonly locks: LockService;
  readonly names: KeyNames;
  readonly timeline: HoldTimeline;
  readonly showHosts: boolean;
  /** Absolute keys that are looked at beside the survey. */
  readonly paths: readonly string[];
}

const NO_MORE: More = Object.freeze({ keys: [], isAwaited: false, fault: null });
const AWAITED: More = Object.freeze({ ...NO_MORE, isAwaited: true });
const NOTHING: ClusterFacts = Object.freeze({
  keys: [],
  queues: [],
  isTruncated: false,
  fault: null,
  pathFault: null,
});

/** All wait queues and queues of the cluster. It costs one survey a second, however many look and search. */
export class ClusterView {
  readonly #viewed: Viewed;
  readonly #turns: SurveyTurns<LockSurvey>;
  #survey: LockSurvey | undefined;
  #facts: Promise<ClusterFacts> = Promise.resolve(NOTHING);
  #last: ClusterFacts = NOTHING;

  constructor(viewed: Viewed) {
    this.#viewed = viewed;
    this.#turns = new SurveyTurns((prefix) => inTime(viewed.locks.survey({ ...BOUNDS, prefix })));
  }

  /** The facts of the last survey. */
  get last(): ClusterFacts {
    return this.#last;
  }

  /** Returns the facts, about a second old, or two while a text is searched for. Never rejects: an outage is a fault among the facts. */
  async facts(): Promise<ClusterFacts> {
    try {
      return await inTime(this.#looked());
    } catch (error) {
      return (this.#last = { ...this.#last, fault: this.#viewed.names.faultOf(error) });
    }
  }

  /**
   * Returns the keys that contain the text, the most contended first. If the survey could not see all keys, another one
   * begins at this text, in its turn. None begins outside of the base path, nor at a text that is no key where keys are
   * shown under other names.
   */
  async matching(text: string, { keys, isTruncated }: ClusterFacts): Promise<Matches> {
    const isSurveyed = text !== '' && !text.startsWith('/') && !this.#viewed.names.areRedacted;
    const more = isTruncated && isSurveyed ? await this.#beginningWith(text) : NO_MORE;
    const known = new Set(keys.map(nameOf));
    const found = [...keys, ...more.keys.filter((one) => !known.has(nameOf(one)))].filter((one) => matches(one, text));
    return { ...more, keys: found.slice(0, MOST_SHOWN), total: found.length };
  }

  /** Ends the wait for a turn. */
  stop(): void {
    this.#turns.stop();
  }

  /** Returns the keys that begin with the text, if a survey of them has answered. */
  async #beginningWith(text: string): Promise<More> {
    const answered = this.#turns.ask(text).then(
      ({ keys }): More => ({ ...NO_MORE, keys: keys.map((one) => this.#shownKey(one)) }),
      (error: unknown): More =>
        error instanceof NoTurnError ? AWAITED : { ...NO_MORE, fault: this.#viewed.names.faultOf(error) },
    );
    return inTime(answered).catch(() => AWAITED);
  }

  async #looked(): Promise<ClusterFacts> {
    const survey = await this.#turns.ask('');
    if (survey !== this.#survey) {
      this.#survey = survey;
      this.#facts = this.#seen(survey);
    }
    return this.#facts;
  }

  async #seen(survey: LockSurvey): Promise<ClusterFacts> {
    const { timeline, names, paths } = this.#viewed;
    const keys = new Map(survey.keys.map((one) => [`${one.kind} ${one.key}`, one]));
    const ofPaths = await this.#ofPaths(paths);
    for (const one of ofPaths.keys) keys.set(`${one.kind} ${one.key}`, one);
    const at = survey.takenAt.getTime();
    const shown = [...keys.values()].map((one) => this.#shownKey(one));
    const ofLocks = holdersByKey(shown.filter(isOfLocks), names);
    for (const [key, held] of ofLocks) timeline.surveyed(key, held, at);
    const inUse = new Set([...ofLocks.keys(), ...ofPaths.unseen]);
    if (!survey.isTruncated) timeline.missing(inUse, at);
    const queues = survey.queues.slice(0, MOST_QUEUES).map((queue) => ({
      key: names.shown(queue.key),
      service: shownOrNull(queue.service),
      items: queue.items,
    }));
    const { isTruncated } = survey;
    return (this.#last = { keys: shown, queues, isTruncated, fault: null, pathFault: ofPaths.fault });
  }

  /** Looks at the keys outside of the base path. One that this client may not list does not hide the others. */
  async #ofPaths(paths: readonly string[]): Promise<PathFacts> {
    const { locks, names } = this.#viewed;
    const unseen: string[] = [];
    const faults: string[] = [];
    const looked = paths.map(async (key) => {
      const contenders = await locks.contenders(key).catch((error: unknown) => {
        unseen.push(key);
        faults.push(`${names.shown(key)}: ${names.faultOf(error)}`);
        return [];
      });
      return surveyed(key, contenders);
    });
    const keys = (await Promise.all(looked)).filter(({ holding, waiting }) => holding + waiting > 0);
    return { keys, unseen, fault: faults[0] ?? null };
  }

  #shownKey(one: LockSurveyKey): ShownKey {
    const { names, showHosts } = this.#viewed;
    const { key, kind, service, holding, waiting, holders, waiters } = one;
    return {
      id: names.idOf(key),
      key: names.shown(key),
      kind,
      service: shownOrNull(service),
      holding,
      waiting,
      holders: holders.map((holder) => shownContender(holder, showHosts)),
      waiters: waiters.map((waiter) => shownContender(waiter, showHosts)),
      heldSince: earliest(holders),
      waitingSince: earliest(waiters),
    };
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

function surveyed(key: string, contenders: readonly Contender[]): LockSurveyKey {
  const holders = contenders.filter(({ state }) => state === 'held');
  const waiters = contenders.filter(({ state }) => state === 'waiting');
  const first = (all: readonly Contender[]) => all.slice(0, BOUNDS.mostContenders);
  const kind = contenders.some(({ mode }) => mode === 'permit') ? 'semaphore' : 'lock';
  const counts = { holding: holders.length, waiting: waiters.length };
  return { key, kind, service: undefined, holders: first(holders), waiters: first(waiters), ...counts };
}

/** Whether it is a key of locks and semaphores. The name of a job or an election may be one of these as well. */
function isOfLocks({ kind }: ShownKey): boolean {
  return kind === 'lock' || kind === 'semaphore';
}

/** The holders of each key. A lock and a semaphore may have one name: the page shows both on the view of a key. */
function holdersByKey(shown: readonly ShownKey[], names: KeyNames): ReadonlyMap<string, SeenHolders> {
  const byKey = new Map<string, SeenHolders>();
  for (const { id, holders, holding } of shown) {
    const key = names.keyOf(id) ?? id;
    const other = byKey.get(key) ?? { holders: [], holding: 0 };
    byKey.set(key, { holders: [...other.holders, ...holders], holding: other.holding + holding });
  }
  return byKey;
}

/** A lock, a job and an election may have one name. */
function nameOf({ kind, id, service }: ShownKey): string {
  return JSON.stringify([kind, service, id]);
}

function earliest(contenders: readonly Contender[]): number | null {
  const times = contenders.map(({ since }) => since.getTime()).filter((at) => !Number.isNaN(at));
  return times.length === 0 ? null : Math.min(...times);
}

function matches({ key, holders, waiters }: ShownKey, text: string): boolean {
  if (text === '') return true;
  const owners = [...holders, ...waiters].flatMap(({ owner }) => [owner.label, owner.host]);
  const wanted = text.toLowerCase();
  return [key, ...owners].some((one) => one?.toLowerCase().includes(wanted));
}

/**
 * Settles as the promise does, or rejects after two seconds. While no server is connected a backend waits for one for
 * longer than that, and in that time the page should show the session.
 */
export function inTime<T>(promise: Promise<T>): Promise<T> {
  return orTimeout(
    promise,
    LONGEST_MS,
    () => new LockUnavailableError(`the servers have not answered within ${LONGEST_MS} ms`),
  );
}
