import { hostname } from 'node:os';
import { channels } from '../contract/channels.js';
import type { EventChannel, EventOrigin, OriginatedEvent } from '../contract/channels.js';
import type { ObservedRequest, RequestEndEvent, RequestGrantEvent, RequestMissEvent } from '../contract/channels.js';
import type { BackendState, LockBackend } from '../contract/lock-backend.js';
import type { ShownEvent, ShownOwner, ShownPoint, ShownProcess, ShownSessionState, ShownVitals } from './answers.js';
import { Durations, percentile, shownDurations } from './durations.js';
import type { HoldTimeline } from './hold-timeline.js';
import type { KeyNames } from './key-names.js';
import { shownOrNull, shownText } from './shown-text.js';

const MOST_EVENTS = 50;
const MOST_POINTS = 120;
const MOST_STATES = 60;
const POINTS_A_MINUTE = 12;
/** The time between two points of the history, in milliseconds. */
export const POINT_MS = 5_000;

/** The counts between two points of the history. */
class Slot {
  readonly waits = new Durations();
  readonly holds = new Durations();
  readonly startedAt = Date.now();
  grants = 0;
  margin: number | null = null;
}

/** Whether the wait says something about holders. One for an item, for others or for the leader's end does not. */
function isWaitForHolder({ kind }: ObservedRequest): boolean {
  return kind !== 'queue' && kind !== 'barrier' && kind !== 'leader';
}

/** Whether the key is one of locks and semaphores. The others have names of their own, and may have the same ones. */
function isOfLocks(request: ObservedRequest): boolean {
  return isWaitForHolder(request) && request.kind !== 'cron';
}

/** The parts of a watch. */
interface Watched {
  readonly origin: EventOrigin;
  readonly backend: LockBackend;
  /** The connection's state. It is lost as soon as its leases must be, also while no server says so. */
  readonly state: () => BackendState;
  readonly timeline: HoldTimeline;
  readonly names: KeyNames;
  readonly showHosts: boolean;
}

/**
 * This process, from the first poll of the page until ten minutes after the last one: rates, waits, holds, events, and the
 * states of the session. It subscribes to the channels that everybody can subscribe to, and ends that in `stop()`.
 */
export class ProcessWatch {
  readonly #watched: Watched;
  readonly #ends: (() => void)[] = [];
  readonly #events: ShownEvent[] = [];
  readonly #states: ShownSessionState[];
  readonly #slots: Slot[] = [new Slot()];
  readonly #points: ShownPoint[] = [];
  #lost = 0;
  #timeouts = 0;

  constructor(watched: Watched) {
    this.#watched = watched;
    this.#states = [{ at: Date.now(), state: watched.state() }];
    this.#subscribeToLeases();
    this.#subscribeToOthers();
  }

  /** Ends all subscriptions. */
  stop(): void {
    this.#ends.splice(0).forEach((end) => end());
  }

  /** Adds an event of the page itself. */
  note(what: string, key: string | null, level: ShownEvent['level'] = 'info'): void {
    this.#events.unshift({ at: Date.now(), level, what: shownText(what), key });
    if (this.#events.length > MOST_EVENTS) this.#events.pop();
  }

  /** Looks at the lease margin: the history has the least one. */
  beat(): void {
    const { marginMs, sessionTimeoutMs } = this.#watched.backend.vitals?.() ?? {};
    if (marginMs === undefined || !sessionTimeoutMs) return;
    const slot = this.#slot;
    slot.margin = Math.min(slot.margin ?? Infinity, Math.round((100 * marginMs) / sessionTimeoutMs) / 100);
  }

  /** Ends a point of the history. @param cluster the numbers of the last survey */
  point(cluster: { readonly held: number; readonly waiting: number }): void {
    this.beat();
    const { waits, grants, margin, startedAt } = this.#slot;
    const seconds = Math.max(1, (Date.now() - startedAt) / 1_000);
    const [p50Ms, p99Ms] = [percentile(waits.counts, 0.5), percentile(waits.counts, 0.99)];
    const rate = Math.round((10 * grants) / seconds) / 10;
    this.#points.push({ at: Date.now(), ...cluster, grants: rate, p50Ms, p99Ms, margin });
    this.#slots.push(new Slot());
    if (this.#points.length > MOST_POINTS) this.#points.shift();
    if (this.#slots.length > MOST_POINTS) this.#slots.shift();
  }

  get history(): readonly ShownPoint[] {
    return this.#points;
  }

  /** Returns this process as the page shows it. Percentiles are those of the last minute. */
  shown(): ShownProcess {
    const lastMinute = this.#slots.slice(-POINTS_A_MINUTE - 1);
    return {
      state: this.#watched.state(),
      states: this.#states,
      vitals: this.#vitals(),
      waits: shownDurations(lastMinute.map(({ waits }) => waits)),
      holds: shownDurations(lastMinute.map(({ holds }) => holds)),
      lost: this.#lost,
      timeouts: this.#timeouts,
      events: this.#events,
    };
  }

  get #slot(): Slot {
    return this.#slots.at(-1) ?? new Slot();
  }

  #vitals(): ShownVitals | null {
    const { backend, showHosts } = this.#watched;
    const vitals = backend.vitals?.();
    if (!vitals) return null;
    const { sessionId, sessionTimeoutMs, marginMs, server } = vitals;
    const step = Math.max(1, (sessionTimeoutMs ?? 0) / 20);
    return {
      sessionId: shownOrNull(sessionId),
      timeoutMs: sessionTimeoutMs ?? null,
      marginMs: marginMs === undefined ? null : Math.round(marginMs / step) * step,
      server: showHosts ? shownOrNull(server) : null,
    };
  }

  #on<Event extends OriginatedEvent>(channel: EventChannel<Event>, listener: (event: Event) => void): void {
    const own = (event: Event) => {
      if (event.origin === this.#watched.origin) listener(event);
    };
    channel.subscribe(own);
    this.#ends.push(() => channel.unsubscribe(own));
  }

  #subscribeToLeases(): void {
    // Without a subscriber here, the events of an acquisition are not published.
    this.#on(channels.requestStart, () => {});
    this.#on(channels.requestGrant, (event) => this.#onGrant(event));
    this.#on(channels.requestEnd, (event) => this.#onEnd(event));
    this.#on(channels.requestMiss, (event) => this.#onMiss(event));
    this.#on(channels.leaseLost, ({ request, error }) => {
      this.#lost++;
      this.#tell(
        'warn',
        request.key,
        `${request.name} has lost its lease: ${this.#watched.names.areMessagesHidden ? error.code : error.message}`,
      );
    });
    this.#on(channels.leaseRevoking, ({ request }) =>
      this.#tell('warn', request.key, `${request.name} is asked to release`),
    );
    this.#on(channels.leaseOverdue, ({ request, limit, limitMs }) =>
      this.#tell('warn', request.key, `${request.name} holds for longer than ${limit}, ${limitMs} ms`),
    );
  }

  #subscribeToOthers(): void {
    this.#on(channels.session, ({ state, why }) => {
      this.#states.push({ at: Date.now(), state });
      if (this.#states.length > MOST_STATES) this.#states.shift();
      this.#tell(
        state === 'connected' ? 'info' : 'warn',
        null,
        `session ${state}${why === undefined || this.#watched.names.areMessagesHidden ? '' : `: ${why}`}`,
      );
    });
    this.#on(channels.election, ({ change, name }) =>
      this.#tell(change === 'trouble' ? 'warn' : 'info', name, `${change} in the election`),
    );
    this.#on(channels.cron, ({ event }) => {
      if (event.type === 'skipped' || event.type === 'started') return;
      const { name, state } = event.run;
      const isBad = state !== 'done';
      this.#tell(isBad ? 'warn' : 'info', null, `job ${name}: ${event.type === 'finished' ? state : event.type}`);
    });
    this.#on(channels.revoke, ({ key, graceMs }) => this.#tell('warn', key, `revoked here, grace ${graceMs} ms`));
  }

  #onGrant({ request, waitedMs }: RequestGrantEvent): void {
    const slot = this.#slot;
    slot.grants++;
    if (isWaitForHolder(request)) slot.waits.add(waitedMs);
    if (!isOfLocks(request)) return;
    const owner = this.#ownerOf(request);
    this.#watched.timeline.began(request.key, request, { owner, mode: request.mode, from: Date.now() });
  }

  #onEnd({ request, heldMs }: RequestEndEvent): void {
    this.#slot.holds.add(heldMs);
    this.#watched.timeline.ended(request.key, request, Date.now());
  }

  #onMiss({ request, reason, waitedMs }: RequestMissEvent): void {
    if (reason === 'busy' || reason === 'aborted' || (reason === 'timeout' && request.kind === 'queue')) return;
    if (reason === 'timeout') this.#timeouts++;
    this.#tell('warn', request.key, `${request.name} was not granted after ${Math.round(waitedMs)} ms: ${reason}`);
  }

  #ownerOf({ label }: ObservedRequest): ShownOwner {
    return { label: shownOrNull(label), host: this.#watched.showHosts ? hostname() : null, pid: process.pid };
  }

  #tell(level: ShownEvent['level'], key: string | null, what: string): void {
    this.note(what, key === null ? null : this.#watched.names.shown(key), level);
  }
}
