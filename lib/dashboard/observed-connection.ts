import { after } from '../async/timer.js';
import { now } from '../async/clock.js';
import type { JobRun } from '../contract/job-event.js';
import type { LockConnection } from '../service/lock-connection.js';
import type { LockService } from '../service/lock.service.js';
import { recordedLosses } from '../service/recorded-losses.js';
import type {
  ShownContender,
  ShownHold,
  ShownLoss,
  ShownPoint,
  ShownProcess,
  ShownRun,
  ShownStock,
} from './answers.js';
import { ClusterView, inTime, shownContender } from './cluster-view.js';
import type { ResolvedDashboardOptions } from './dashboard.options.js';
import { HoldTimeline } from './hold-timeline.js';
import type { KeyNames } from './key-names.js';
import { POINT_MS, ProcessWatch } from './process-watch.js';
import { readStocks, shownLosses, shownRuns } from './recorded-facts.js';

const KEPT_MS = 600_000;
const BEAT_MS = 1_000;
const ONE_SECOND_MS = 1_000;
const MOST_CONTENDERS = 200;
const MOST_QUEUES = 100;

/** The services of one connection of the application. */
export interface Observed {
  readonly locks: LockService;
  readonly connection: LockConnection;
  /** Returns the latest runs of jobs without taking a lock; `undefined` where no job can be recorded. */
  readonly runs: () => Promise<readonly JobRun[]>;
}

/** The wait queue of one key, in full up to a bound. */
interface KeyQueue {
  readonly contenders: readonly ShownContender[];
  readonly more: number;
}

/**
 * One connection, as the page sees it. Nothing happens before the first poll, and nothing after ten minutes without one:
 * the survey is asked for by polls, and the watch on this process ends by itself.
 */
export class ObservedConnection {
  readonly cluster: ClusterView;
  readonly #observed: Observed;
  readonly #names: KeyNames;
  readonly #options: ResolvedDashboardOptions;
  readonly #timeline = new HoldTimeline();
  readonly #runs: Shared<readonly ShownRun[]>;
  readonly #stocks: Shared<readonly ShownStock[]>;
  readonly #losses: Shared<readonly ShownLoss[]>;
  readonly #queues = new Map<string, Shared<KeyQueue>>();
  #watch: ProcessWatch | undefined;
  #stopTimer: () => void = () => {};
  #polledAt = 0;
  #pointAt = 0;

  constructor(observed: Observed, names: KeyNames, options: ResolvedDashboardOptions) {
    this.#observed = observed;
    this.#names = names;
    this.#options = options;
    const { locks, connection } = observed;
    const { showHosts, paths } = options;
    const timeline = this.#timeline;
    this.cluster = new ClusterView({ locks, names, timeline, showHosts, paths });
    this.#runs = new Shared(ONE_SECOND_MS, async () => shownRuns(await observed.runs(), names, showHosts));
    this.#stocks = new Shared(ONE_SECOND_MS, () => readStocks(connection.backend.records, names));
    this.#losses = new Shared(ONE_SECOND_MS, async () =>
      shownLosses(await recordedLosses(connection.backend), names, showHosts),
    );
  }

  get backendName(): string {
    return this.#observed.connection.backend.name;
  }

  /** Returns the watch on this process, and begins it where it has ended. */
  polled(): ProcessWatch {
    this.#polledAt = now();
    if (this.#watch) return this.#watch;
    const { locks, connection } = this.#observed;
    const { origin, backend } = connection;
    const state = () => locks.state;
    const { showHosts } = this.#options;
    this.#watch = new ProcessWatch({ origin, backend, state, timeline: this.#timeline, names: this.#names, showHosts });
    this.#pointAt = now();
    this.#beatLater();
    return this.#watch;
  }

  get process(): ShownProcess {
    return this.polled().shown();
  }

  get history(): readonly ShownPoint[] {
    return this.polled().history;
  }

  /** Returns the latest run of each job; `null` while they cannot be read. */
  runs(): Promise<readonly ShownRun[] | null> {
    return inTime(this.#runs.get()).catch(() => null);
  }

  /** Returns the stocks that are kept beside the locks; `null` while they cannot be read. */
  stocks(): Promise<readonly ShownStock[] | null> {
    return inTime(this.#stocks.get()).catch(() => null);
  }

  /** Returns the latest losses of all instances; `null` while they cannot be read. */
  losses(): Promise<readonly ShownLoss[] | null> {
    return inTime(this.#losses.get()).catch(() => null);
  }

  /** Returns the contenders of a key, once a second for all who look. @throws LockUnavailableError */
  async queueOf(key: string): Promise<KeyQueue> {
    const shared = this.#queues.get(key) ?? new Shared(ONE_SECOND_MS, () => this.#askQueue(key));
    this.#queues.delete(key);
    this.#queues.set(key, shared);
    const [oldest] = this.#queues.keys();
    if (this.#queues.size > MOST_QUEUES && oldest !== undefined) this.#queues.delete(oldest);
    return inTime(shared.get());
  }

  holdsOf(key: string): readonly ShownHold[] {
    return this.#timeline.of(key);
  }

  /** Ends the watch on this process, and the wait for a survey. */
  stop(): void {
    this.#stopTimer();
    this.cluster.stop();
    this.#watch?.stop();
    this.#watch = undefined;
  }

  async #askQueue(key: string): Promise<KeyQueue> {
    const all = await this.#observed.locks.contenders(key);
    const contenders = all.slice(0, MOST_CONTENDERS).map((one) => shownContender(one, this.#options.showHosts));
    return { contenders, more: all.length - contenders.length };
  }

  #beatLater(): void {
    this.#stopTimer = after(BEAT_MS, () => this.#beat(), 'unref');
  }

  #beat(): void {
    if (now() - this.#polledAt > KEPT_MS) return this.stop();
    this.#watch?.beat();
    if (now() - this.#pointAt >= POINT_MS) {
      this.#pointAt = now();
      const { keys } = this.cluster.last;
      this.#watch?.point({ held: sum(keys, 'holding'), waiting: sum(keys, 'waiting') });
    }
    this.#beatLater();
  }
}

/** Returns the number of contenders of all keys that hold, or that wait. Leaders hold no lock. */
export function sum(
  keys: readonly { readonly kind: string; readonly holding: number; readonly waiting: number }[],
  of: 'holding' | 'waiting',
): number {
  return keys.reduce((total, one) => total + (one.kind === 'election' ? 0 : one[of]), 0);
}

/** An answer that is asked for at most once in `forMs`, however many callers want it. All of them share it. */
class Shared<T> {
  readonly #ask: () => Promise<T>;
  readonly #forMs: number;
  #answer: Promise<T> | undefined;
  #askedAt = -Infinity;
  #isPending = false;

  constructor(forMs: number, ask: () => Promise<T>) {
    this.#forMs = forMs;
    this.#ask = ask;
  }

  /** Returns the answer, which is at most `forMs` old when it is there. Rejects as the question does. */
  get(): Promise<T> {
    const isFresh = this.#isPending || now() - this.#askedAt < this.#forMs;
    if (this.#answer && isFresh) return this.#answer;
    this.#askedAt = now();
    this.#isPending = true;
    this.#answer = this.#ask().finally(() => (this.#isPending = false));
    return this.#answer;
  }
}
