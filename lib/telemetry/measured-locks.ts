import { now } from '../async/clock.js';
import { LinkedList, StringMap } from '../async/collections.js';
import type { Place } from '../async/collections.js';
import type {
  LeaseFailureEvent,
  LockKind,
  ObservedRequest,
  RequestEndEvent,
  RequestGrantEvent,
  RequestMissEvent,
  RequestStartEvent,
} from '../contract/channels.js';
import type { LockErrorCode } from '../contract/errors.js';
import type { LeaseMode } from '../contract/lease.js';
import { METRICS } from './metric-table.js';
import type { Metric } from './metric-table.js';
import type { MetricNames } from './metric-names.js';
import type { Counter, GaugeSource, Histogram, Labels, Sample, SeriesFactory } from './series.js';

const MS = 1_000;

/** One acquisition that waits or holds. */
interface Acquired {
  readonly lock: LockSeries;
  readonly use: KeyUse;
  /** The time of the start, and of the grant after that. */
  since: number;
  place: Place<Acquired>;
}

/** The acquisitions of one connection: how long they wait and hold, and how many do so now. */
export class MeasuredLocks implements GaugeSource {
  readonly #connection: string;
  readonly #names: MetricNames;
  readonly #make: SeriesFactory;
  readonly #locks = new Map<string, Map<LeaseMode, LockSeries>>();
  readonly #acquired = new WeakMap<ObservedRequest, Acquired>();
  readonly #uses = new Map<LockKind, StringMap<KeyUse>>();

  constructor(connection: string, names: MetricNames, make: SeriesFactory) {
    this.#connection = connection;
    this.#names = names;
    this.#make = make;
  }

  started({ request }: RequestStartEvent): void {
    // A candidate waits for as long as another one leads, and a term has no end. Only the loss of a term counts.
    if (request.kind === 'leader') return void this.#lossesOf(request);
    // A caller that waits for an item or for others waits for no holder, and may well do so for hours.
    if (isWaitForOthers(request)) return;
    this.#count(request, 'waiting');
  }

  granted({ request, waitedMs, handOver }: RequestGrantEvent): void {
    if (isWaitForOthers(request)) return this.#count(request, 'held');
    const acquired = this.#acquired.get(request);
    if (!acquired) return;
    const { lock, use } = acquired;
    acquired.since = now();
    use.proceed(acquired.since);
    use.waiting--;
    use.held++;
    acquired.place.leave();
    acquired.place = lock.held.join(acquired);
    lock.waited('acquired', waitedMs);
    if (handOver > 0) lock.handovers.add(1);
  }

  missed({ request, waitedMs, reason }: RequestMissEvent): void {
    const acquired = this.#acquired.get(request);
    if (!acquired) return;
    const { lock, use } = acquired;
    use.proceed(now());
    use.waiting--;
    acquired.place.leave();
    lock.waited(reason, waitedMs);
    this.#forget(request, use);
  }

  lost({ request, lease, error }: LeaseFailureEvent): void {
    // The holder was asked to release the key before, or the lease has ended by itself.
    const first = lease.signal.reason as { readonly code?: LockErrorCode } | undefined;
    const reason = REASONS[first?.code ?? error.code] ?? 'lost';
    const acquired = this.#acquired.get(request);
    if (acquired || request.kind === 'leader') this.#lossesOf(request).get(reason)?.add(1);
    if (acquired) this.#endHold(acquired);
  }

  released({ request, heldMs }: RequestEndEvent): void {
    const acquired = this.#acquired.get(request);
    if (!acquired) return;
    this.#endHold(acquired);
    acquired.lock.heldFor(heldMs);
    this.#forget(request, acquired.use);
  }

  samplesOf(metric: Metric): readonly Sample[] {
    const value = GAUGES.get(metric);
    if (!value) return [];
    const time = now();
    return [...this.#locks.values()].flatMap((modes) =>
      [...modes.values()].map((lock) => ({ labels: lock.labels, value: value(lock, time) })),
    );
  }

  /** Counts an acquisition as one that waits, or that holds. */
  #count(request: ObservedRequest, as: 'waiting' | 'held'): void {
    const since = now();
    const lock = this.#seriesOf(request);
    const use = this.#useOf(request);
    use.proceed(since);
    use[as]++;
    const acquired: Acquired = { lock, use, since, place: undefined as never };
    acquired.place = lock[as].join(acquired);
    this.#acquired.set(request, acquired);
  }

  /** The lease is held no more, lost or released: it counts once. */
  #endHold({ lock, use, place }: Acquired): void {
    if (!place.leave()) return;
    use.proceed(now());
    use.held--;
    lock.blocking.add(use.takeBlockedMs() / MS);
  }

  #forget(request: ObservedRequest, use: KeyUse): void {
    this.#acquired.delete(request);
    if (use.waiting === 0 && use.held === 0) this.#usesOf(request).delete(request.key);
  }

  #seriesOf(request: ObservedRequest): LockSeries {
    const name = this.#names.of('lock', request);
    let modes = this.#locks.get(name);
    if (!modes) this.#locks.set(name, (modes = new Map()));
    const known = modes.get(request.mode);
    if (known) return known;
    const lock = new LockSeries(this.#labelsOf(request), this.#make);
    modes.set(request.mode, lock);
    this.#lossesOf(request);
    return lock;
  }

  /** Returns the counters of losses. One that appeared with its first loss would show no increase. */
  #lossesOf(request: ObservedRequest): ReadonlyMap<string, Counter> {
    const labels = this.#labelsOf(request);
    const counters = LOSS_REASONS.map((reason) => {
      const counter = this.#make.counter(METRICS.leasesLost, { ...labels, reason });
      return [reason, begun(counter)] as const;
    });
    return new Map(counters);
  }

  #labelsOf({ mode, ...request }: ObservedRequest): Labels {
    return { connection: this.#connection, lock: this.#names.of('lock', request), mode };
  }

  #useOf(request: ObservedRequest): KeyUse {
    const uses = this.#usesOf(request);
    let use = uses.get(request.key);
    if (!use) uses.set(request.key, (use = new KeyUse()));
    return use;
  }

  /** The uses of keys that can wait for each other. */
  #usesOf({ kind }: ObservedRequest): StringMap<KeyUse> {
    const among = kind === 'set' ? 'lock' : kind;
    let uses = this.#uses.get(among);
    if (!uses) this.#uses.set(among, (uses = new StringMap()));
    return uses;
  }
}

/** The reason of a loss by the code of the error that the lease's signal aborted with. */
const REASONS: Readonly<Partial<Record<LockErrorCode, string>>> = {
  LOCK_REVOKED: 'revoked',
  LOCK_OVERDUE: 'overdue',
  LOCK_SHUTDOWN: 'shutdown',
};

/** Whether the wait is one for an item of a queue, or for others at a barrier. It has a metric of its own. */
function isWaitForOthers({ kind }: ObservedRequest): boolean {
  return kind === 'queue' || kind === 'barrier';
}

/** All values of the label `reason`. */
export const LOSS_REASONS = ['lost', 'revoked', 'overdue', 'shutdown'] as const;

/** The series of one name and mode. */
class LockSeries {
  readonly waiting = new LinkedList<Acquired>();
  readonly held = new LinkedList<Acquired>();
  readonly handovers: Counter;
  readonly blocking: Counter;
  #holds: Histogram | undefined;
  readonly #waits = new Map<string, Histogram>();
  readonly #make: SeriesFactory;

  constructor(
    readonly labels: Labels,
    make: SeriesFactory,
  ) {
    this.#make = make;
    this.handovers = begun(make.counter(METRICS.handovers, labels));
    this.blocking = begun(make.counter(METRICS.blocking, labels));
  }

  waited(result: string, ms: number): void {
    let waits = this.#waits.get(result);
    if (!waits) {
      waits = this.#make.histogram(METRICS.waitDuration, { ...this.labels, result });
      this.#waits.set(result, waits);
    }
    waits.record(ms / MS);
  }

  heldFor(ms: number): void {
    this.#holds ??= this.#make.histogram(METRICS.holdDuration, this.labels);
    this.#holds.record(ms / MS);
  }
}

/** Makes a counter visible. */
export function begun(counter: Counter): Counter {
  counter.add(0);
  return counter;
}

/**
 * The use of one key by this process. It adds up the time that callers wait while others of this process hold the key.
 * Each holder that ends takes what has come together since the one before.
 */
class KeyUse {
  waiting = 0;
  held = 0;
  #blockedMs = 0;
  #at = 0;

  /** Adds the time since the last change. To be called before each change. */
  proceed(time: number): void {
    if (this.held > 0) this.#blockedMs += this.waiting * (time - this.#at);
    this.#at = time;
  }

  takeBlockedMs(): number {
    const blockedMs = this.#blockedMs;
    this.#blockedMs = 0;
    return blockedMs;
  }
}

const GAUGES: ReadonlyMap<Metric, (lock: LockSeries, time: number) => number> = new Map([
  [METRICS.held, ({ held }) => held.size],
  [METRICS.waiting, ({ waiting }) => waiting.size],
  [METRICS.oldestHold, ({ held }, time) => ageOf(held, time)],
  [METRICS.oldestWait, ({ waiting }, time) => ageOf(waiting, time)],
]);

/** The age of the first member, in seconds; 0 if there is none. */
function ageOf(list: LinkedList<Acquired>, time: number): number {
  return list.first ? (time - list.first.since) / MS : 0;
}
