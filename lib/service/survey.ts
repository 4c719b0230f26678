import { NEVER, orAbort } from '../async/abort.js';
import { now } from '../async/clock.js';
import { BoundedMap } from '../async/collections.js';
import { check, checkFields, checkMs, checkSignal } from '../contract/check.js';
import type { Contender } from '../contract/contender.js';
import { LockConfigurationError } from '../contract/errors.js';
import type { Survey, SurveyedKey, SurveyedKind, SurveyQuestion } from '../contract/survey.js';
import { withLocalCallers } from './contenders.js';
import type { LockConnection } from './lock-connection.js';
import { isAbsolute, jobLockKey } from './service-names.js';

/** The options of `survey`: its bounds. A survey that reaches one of them is truncated. */
export interface SurveyOptions {
  /**
   * Only keys that begin with this text. On ZooKeeper, a text that begins with a slash is a path, also outside of the
   * base path. Default: all keys below the base path, and the absolute keys that this process has used.
   */
  readonly prefix?: string | undefined;
  /** The maximum number of keys and queues, 1 to 10 000. Default 200. */
  readonly mostKeys?: number | undefined;
  /** The maximum number of holders, and of waiting contenders, that are listed for each key, 1 to 100. Default 3. */
  readonly mostContenders?: number | undefined;
  /** The time after which the survey ends with what it has found, in milliseconds, 1 to 60 000. Default 200. */
  readonly withinMs?: number | undefined;
  /** Aborts the call, which rejects with `signal.reason`. */
  readonly signal?: AbortSignal | undefined;
}

/** A key that is held or waited for, at the time of a survey. */
export interface LockSurveyKey extends Omit<SurveyedKey, 'kind'> {
  /** The key; of jobs and elections the name, as the application writes it. */
  readonly key: string;
  /** The kind of the key: a lock, a semaphore, the election of a leader, or the lock of a job with `@CronLock`. */
  readonly kind: SurveyedKind | 'job';
  /** The service that the election or job belongs to. `undefined` for others, and for absolute keys. */
  readonly service: string | undefined;
}

/** A queue of items, at the time of a survey. */
export interface LockSurveyQueue {
  /** The key of the queue, as the application writes it. */
  readonly key: string;
  /** The service that the queue belongs to. `undefined` for an absolute key. */
  readonly service: string | undefined;
  /** The number of items, including those that are taken. */
  readonly items: number;
}

/** The locks, semaphores, jobs, elections and queues of a cluster that are in use. */
export interface LockSurvey {
  /** The keys with most waiting contenders first; of equal ones, those that are held for longest. */
  readonly keys: readonly LockSurveyKey[];
  /** The queues with most items first. */
  readonly queues: readonly LockSurveyQueue[];
  /** Whether a bound was reached, so that keys may be missing. */
  readonly isTruncated: boolean;
  /** The time at which the survey ended, by this process's clock. */
  readonly takenAt: Date;
}

type Bounds = Required<Omit<SurveyOptions, 'signal'>>;

const DEFAULTS = Object.freeze({ prefix: '', mostKeys: 200, mostContenders: 3, withinMs: 200 });
const FIELDS = [...Object.keys(DEFAULTS), 'signal'];
const REUSED_MS = 1_000;
const MOST_ANSWERS = 8;
const LONGEST_PREFIX = 1_024;

/** Merges the options with the defaults and checks them. @throws LockConfigurationError that names the wrong field */
export function resolveSurveyOptions(options: SurveyOptions): Bounds {
  checkFields('survey options', options, FIELDS);
  const { prefix = DEFAULTS.prefix, mostKeys = DEFAULTS.mostKeys, mostContenders = DEFAULTS.mostContenders } = options;
  const { withinMs = DEFAULTS.withinMs, signal } = options;
  const isText = typeof prefix === 'string' && prefix.length <= LONGEST_PREFIX;
  check(isText, 'prefix', prefix, `a string of at most ${LONGEST_PREFIX} characters`);
  checkCount('mostKeys', mostKeys, 10_000);
  checkCount('mostContenders', mostContenders, 100);
  checkMs('withinMs', withinMs, 1, 60_000);
  checkSignal(signal);
  return { prefix, mostKeys, mostContenders, withinMs };
}

function checkCount(field: string, value: unknown, most: number): void {
  const isCount = Number.isInteger(value) && (value as number) >= 1 && (value as number) <= most;
  check(isCount, field, value, `a whole number from 1 to ${most}`);
}

/**
 * The surveys of one connection. One runs at a time. An answer is used again for a second, so however many callers there
 * are, the servers are asked once a second for each set of bounds.
 */
export class Surveys {
  readonly #connection: LockConnection;
  readonly #answers = new BoundedMap<{ readonly answer: Promise<LockSurvey>; endedAt: number }>(MOST_ANSWERS);
  #running: Promise<unknown> = Promise.resolve();

  constructor(connection: LockConnection) {
    this.#connection = connection;
  }

  async ask(options: SurveyOptions): Promise<LockSurvey> {
    const bounds = resolveSurveyOptions(options);
    options.signal?.throwIfAborted();
    return orAbort(this.#answerTo(bounds), options.signal ?? NEVER);
  }

  #answerTo(bounds: Bounds): Promise<LockSurvey> {
    const { prefix, mostKeys, mostContenders, withinMs } = bounds;
    const question = JSON.stringify([prefix, mostKeys, mostContenders, withinMs]);
    const known = this.#answers.get(question);
    if (known && now() - known.endedAt < REUSED_MS) return known.answer;
    const answer = this.#running.then(() => this.#survey(bounds));
    const asked = { answer, endedAt: Infinity };
    this.#answers.set(question, asked);
    this.#running = answer.then(
      () => void (asked.endedAt = now()),
      () => void (asked.endedAt = -Infinity),
    );
    return answer;
  }

  async #survey(bounds: Bounds): Promise<LockSurvey> {
    const { backend } = this.#connection;
    if (!backend.survey) throw new LockConfigurationError(`the backend "${backend.name}" has no survey`);
    const found = [...(await this.#ofPrefixes(bounds)), ...(await this.#absolute(bounds))];
    const keys = found.flatMap((one) => one.keys.map((key) => this.#described(key, bounds.mostContenders)));
    const queues = found.flatMap((one) => one.queues.map(({ key, items }) => ({ ...nameOf(key), items })));
    return {
      keys: keys.sort(byWaiting).slice(0, bounds.mostKeys),
      queues: queues.sort((one, other) => other.items - one.items).slice(0, bounds.mostKeys),
      isTruncated: found.some(({ isTruncated }) => isTruncated) || keys.length > bounds.mostKeys,
      takenAt: new Date(),
    };
  }

  /** Asks for the prefix, and then for the same in the names of this service, within the bounds of one survey. */
  async #ofPrefixes({ prefix, ...bounds }: Bounds): Promise<readonly Survey[]> {
    const endsAt = now() + bounds.withinMs;
    const first = await this.#asked({ ...bounds, prefix, signal: NEVER });
    const found = [first];
    for (const own of this.#ownNames(prefix)) {
      const mostKeys = bounds.mostKeys - found.reduce((count, { keys }) => count + keys.length, 0);
      const withinMs = Math.floor(endsAt - now());
      if (mostKeys < 1 || withinMs < 1) return [...found, { keys: [], queues: [], isTruncated: true }];
      found.push(withoutLocks(await this.#asked({ ...bounds, mostKeys, withinMs, prefix: own, signal: NEVER })));
    }
    return found;
  }

  async #asked(question: SurveyQuestion): Promise<Survey> {
    const survey = await this.#connection.backend.survey?.(question);
    return survey ?? { keys: [], queues: [], isTruncated: false };
  }

  /** The prefixes of what belongs to this service, where a name is looked for that the backend knows below others. */
  #ownNames(prefix: string): readonly string[] {
    const { service } = this.#connection.options;
    if (prefix === '' || isAbsolute(prefix) || service === undefined) return [];
    return [`${service}/${prefix}`, jobLockKey(`${service}/${prefix}`)];
  }

  /** The absolute keys that this process has used: no survey of the keys below the base path finds them. */
  async #absolute({ prefix, ...bounds }: Bounds): Promise<readonly Survey[]> {
    if (prefix !== '') return [];
    const { backend, keys } = this.#connection;
    const asked = keys.absolute.map(async (key) => {
      const found = await this.#asked({ ...bounds, prefix: key, signal: NEVER });
      return { ...found, keys: found.keys.filter((one) => one.key === key), queues: [] };
    });
    return backend.survey ? Promise.all(asked) : [];
  }

  /** The key as the application writes it, with the callers of this process. */
  #described(found: SurveyedKey, most: number): LockSurveyKey {
    const { holders, waiters } = found;
    const listed = [...holders, ...waiters];
    const all = found.kind === 'election' ? listed : this.#withLocalCallers(found.key, listed);
    const [held, waiting] = (['held', 'waiting'] as const).map((state) => all.filter((one) => one.state === state));
    return {
      ...namedKey(found),
      holders: (held ?? []).slice(0, most),
      holding: found.holding + (held?.length ?? 0) - holders.length,
      waiters: (waiting ?? []).slice(0, most),
      waiting: found.waiting + (waiting?.length ?? 0) - waiters.length,
    };
  }

  #withLocalCallers(key: string, contenders: readonly Contender[]): readonly Contender[] {
    const { backend, gate } = this.#connection;
    try {
      const identity = backend.identify(key);
      return withLocalCallers(contenders, (mode) => gate.local.find(mode, identity));
    } catch (error) {
      // Another client's directory: no caller of this process can have used such a key.
      if (error instanceof LockConfigurationError) return contenders;
      throw error;
    }
  }
}

/** The names of a service among the findings. Keys of locks with the same beginning have another prefix. */
function withoutLocks(survey: Survey): Survey {
  return { ...survey, keys: survey.keys.filter((one) => one.kind === 'election' || isJob(one)) };
}

const JOBS = jobLockKey('');

function isJob({ key, kind }: SurveyedKey): boolean {
  return kind === 'lock' && key.startsWith(JOBS);
}

function namedKey(found: SurveyedKey): Pick<LockSurveyKey, 'key' | 'kind' | 'service'> {
  if (isJob(found)) return { ...nameOf(found.key.slice(JOBS.length)), kind: 'job' };
  if (found.kind === 'election') return { ...nameOf(found.key), kind: 'election' };
  return { key: found.key, kind: found.kind, service: undefined };
}

/** The name and the service of what belongs to one service. */
function nameOf(key: string): Pick<LockSurveyKey, 'key' | 'service'> {
  const slash = key.indexOf('/');
  if (slash <= 0) return { key, service: undefined };
  return { key: key.slice(slash + 1), service: key.slice(0, slash) };
}

function byWaiting(one: LockSurveyKey, other: LockSurveyKey): number {
  return other.waiting - one.waiting || heldSince(one) - heldSince(other) || (one.key < other.key ? -1 : 1);
}

function heldSince({ holders }: LockSurveyKey): number {
  return holders[0]?.since.getTime() ?? Infinity;
}
