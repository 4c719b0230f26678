import { now } from '../async/clock.js';
import { after } from '../async/timer.js';
import type { SessionEvent } from '../contract/channels.js';
import type { BackendState } from '../contract/lock-backend.js';
import type { LockConnection } from '../service/lock-connection.js';
import { begun } from './measured-locks.js';
import { METRICS } from './metric-table.js';
import type { Metric } from './metric-table.js';
import type { Counter, GaugeSource, Labels, Sample, SeriesFactory } from './series.js';

const MS = 1_000;
const STATES: readonly BackendState[] = ['connected', 'suspended', 'lost'];

/** The margin is looked at this often in a session timeout. A heartbeat that fails in between makes it smaller. */
const LOOKS_PER_TIMEOUT = 12;
const SHORTEST_PAUSE_MS = 50;
const PAUSE_WITHOUT_SESSION_MS = 1_000;

/** The session of one connection. */
export class MeasuredSession implements GaugeSource {
  readonly #connection: LockConnection;
  readonly #labels: Labels;
  readonly #suspended: Counter;
  readonly #losses: Counter;
  #downSince: number | undefined;
  #leastMarginMs: number | undefined;
  #stop: () => void = () => {};

  constructor(connection: LockConnection, make: SeriesFactory) {
    this.#connection = connection;
    this.#labels = { connection: connection.origin.connection };
    this.#suspended = begun(make.counter(METRICS.sessionSuspended, this.#labels));
    this.#losses = begun(make.counter(METRICS.sessionLosses, this.#labels));
    this.#beat();
  }

  changed({ state, before }: SessionEvent): void {
    this.proceed();
    if (state === 'lost') this.#losses.add(1);
    if (state === 'closed') this.stop();
    const isDown = state === 'suspended' || state === 'lost';
    // Before the first connection nothing is interrupted.
    if (isDown && before !== undefined) this.#downSince = now();
    // The event may be of one shard of several.
    else if (state === 'closed' || this.#connection.backend.state === 'connected') this.#downSince = undefined;
  }

  /** Counts the time of an outage so far. */
  proceed(): void {
    if (this.#downSince === undefined) return;
    const time = now();
    this.#suspended.add((time - this.#downSince) / MS);
    this.#downSince = time;
  }

  samplesOf(metric: Metric): readonly Sample[] {
    if (metric === METRICS.sessionState) return this.#states();
    if (metric === METRICS.sessionTimeout) return this.#sampleOf(this.#vitals?.sessionTimeoutMs);
    return metric === METRICS.leaseMargin ? this.#sampleOf(this.#takeMargin()) : [];
  }

  stop(): void {
    this.#stop();
  }

  #states(): readonly Sample[] {
    const { state } = this.#connection.stateNow;
    return STATES.map((one) => ({ labels: { ...this.#labels, state: one }, value: one === state ? 1 : 0 }));
  }

  #sampleOf(ms: number | undefined): readonly Sample[] {
    return ms === undefined ? [] : [{ labels: this.#labels, value: ms / MS }];
  }

  /** Returns the least margin since the last call. */
  #takeMargin(): number | undefined {
    this.#look();
    const least = this.#leastMarginMs;
    this.#leastMarginMs = undefined;
    return least;
  }

  #beat(): void {
    const timeoutMs = this.#vitals?.sessionTimeoutMs;
    const pauseMs = timeoutMs === undefined ? PAUSE_WITHOUT_SESSION_MS : timeoutMs / LOOKS_PER_TIMEOUT;
    this.#stop = after(
      Math.max(SHORTEST_PAUSE_MS, pauseMs),
      () => {
        this.#look();
        this.#beat();
      },
      'unref',
    );
  }

  /** A session that holds nothing proves nothing either, so its margin says nothing. */
  #look(): void {
    if (this.#connection.gate.counts.held === 0) return;
    const marginMs = this.#vitals?.marginMs;
    if (marginMs !== undefined) this.#leastMarginMs = Math.min(marginMs, this.#leastMarginMs ?? Infinity);
  }

  get #vitals() {
    return this.#connection.backend.vitals?.();
  }
}
