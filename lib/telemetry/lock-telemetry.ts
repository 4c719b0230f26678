import { connectionOf } from '../service/lock.service.js';
import type { LockService } from '../service/lock.service.js';
import { MeasuredLocks } from './measured-locks.js';
import { MeasuredSession } from './measured-session.js';
import { MeasuredWork } from './measured-work.js';
import type { Metric } from './metric-table.js';
import type { MetricNames } from './metric-names.js';
import type { GaugeSource, Sample, SeriesFactory } from './series.js';

/**
 * All that is measured of one connection. It is a listener for the connection's events, and nothing else. It ends with
 * the connection, after the last lease.
 */
export class LockTelemetry implements GaugeSource {
  readonly #locks: LockService;
  readonly #session: MeasuredSession;
  readonly #sources: readonly GaugeSource[];
  readonly #ends: readonly (() => void)[];
  readonly #onEnded: () => void;

  constructor(locks: LockService, names: MetricNames, make: SeriesFactory, onEnded: () => void) {
    this.#locks = locks;
    this.#onEnded = onEnded;
    const { connectionName, events } = locks;
    const acquisitions = new MeasuredLocks(connectionName, names, make);
    const session = new MeasuredSession(connectionOf(locks), make);
    const work = new MeasuredWork(connectionName, names, make);
    this.#session = session;
    this.#sources = [acquisitions, session, work];
    this.#ends = [
      events.on('waiting', (event) => acquisitions.started(event)),
      events.on('acquired', (event) => {
        acquisitions.granted(event);
        work.waited(event.request, 'acquired', event.waitedMs);
      }),
      events.on('missed', (event) => {
        acquisitions.missed(event);
        work.waited(event.request, event.reason, event.waitedMs);
      }),
      events.on('released', (event) => acquisitions.released(event)),
      events.on('lost', (event) => acquisitions.lost(event)),
      events.on('session', (event) => {
        session.changed(event);
        // Not at once: a listener that leaves while an event is published makes others miss it.
        if (event.state === 'closed') queueMicrotask(() => this.#stop());
      }),
      events.on('election', (event) => work.election(event)),
      events.on('cron', (event) => work.cron(event)),
      events.on('queue', (event) => work.queue(event)),
      events.on('stock', (event) => work.stock(event)),
    ];
  }

  /** Counts what has gone on since the last call. To be called before values are read. */
  proceed(): void {
    this.#session.proceed();
  }

  samplesOf(metric: Metric): readonly Sample[] {
    return this.#sources.flatMap((source) => source.samplesOf(metric));
  }

  /** Ends the measuring of a connection that does not tell its end. */
  applicationEnds(): void {
    if (!connectionOf(this.#locks).backend.observe) this.#stop();
  }

  #stop(): void {
    this.proceed();
    this.#session.stop();
    this.#ends.forEach((end) => end());
    this.#onEnded();
  }
}
