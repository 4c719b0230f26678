import { channel } from 'node:diagnostics_channel';
import type { LockError } from './errors.js';
import type { JobEvent } from './job-event.js';
import type { Lease, LeaseMode, LeaseState } from './lease.js';
import type { Line } from './lock-request.js';
import type { SessionChange } from './survey.js';

/**
 * The origin of an event: one frozen object for each `LockService`, see `LockService.origin`. Channels belong to the
 * whole process, so a subscriber compares this object to tell the events of its own application from those of others.
 */
export interface EventOrigin {
  /** The name that the connection was registered under. */
  readonly connection: string;
  /** The name of the backend, such as `zookeeper`. */
  readonly backend: string;
}

/** The fields of every event. */
export interface OriginatedEvent {
  /** The name that the connection was registered under. */
  readonly connection: string;
  /** The `LockService` that the event is from, as an object to compare with `LockService.origin`. */
  readonly origin: EventOrigin;
}

/**
 * The kinds of acquisitions:
 * - `lock`: of one key, in any mode.
 * - `set`: of one key of several that are acquired together.
 * - `semaphore`: of permits.
 * - `segment`: of one segment of a key.
 * - `leader`: of the leadership in an election.
 * - `cron`: of the lock of a job.
 * - `queue`: of an item of a queue.
 * - `barrier`: of a member's place in a double barrier.
 */
export type LockKind = 'lock' | 'set' | 'semaphore' | 'segment' | 'leader' | 'cron' | 'queue' | 'barrier';

/**
 * One acquisition, as observers see it. All events of an acquisition have the same object, so a `WeakMap` by it can
 * carry the state of a subscriber from one event to the next.
 */
export interface ObservedRequest {
  /** The key as the application wrote it. */
  readonly key: string;
  /** The label, or `'unnamed'`. There are few of them, so it is fit for a metric. */
  readonly name: string;
  /** The label: `Class.method` for a decorator, or the caller's own. */
  readonly label: string | undefined;
  /** The kind of the acquisition. */
  readonly kind: LockKind;
  /** The mode in which the key is requested. */
  readonly mode: LeaseMode;
  /** The waiting mode. */
  readonly line: Line;
  /** The number of permits that are requested. Only with the kind `semaphore`. */
  readonly permits: number | undefined;
  /** The maximum wait in milliseconds. */
  readonly waitMs: number;
}

/** The fields of every event of an acquisition. */
export interface RequestEvent extends OriginatedEvent {
  /** The acquisition. */
  readonly request: ObservedRequest;
}

/** An acquisition begins. Runs in the async context of its caller, so this is the place to read that context. */
export interface RequestStartEvent extends RequestEvent {}

/**
 * A lease is granted to the caller, before its code runs. A caller that waited gets this in the async context of the
 * code that released the key, not in its own: read the caller's context at `request.start`.
 */
export interface RequestGrantEvent extends RequestEvent {
  /** The lease. */
  readonly lease: Lease;
  /** Time from the start to the grant, in milliseconds. */
  readonly waitedMs: number;
  /** The number of the hand-over inside this process. 0: the lease came from the servers. */
  readonly handOver: number;
}

/**
 * The reasons why an acquisition ended without a lease:
 * - `busy`: the key was held, and the caller did not wait. Or a queue was empty.
 * - `timeout`: the key was held for all of `waitMs`. Or a queue was empty, or too few were at a barrier.
 * - `aborted`: the caller's own signal has aborted.
 * - `unavailable`: no server answered.
 * - `shutdown`: the application is shutting down.
 * - `error`: any other error.
 */
export type MissReason = 'busy' | 'timeout' | 'aborted' | 'unavailable' | 'shutdown' | 'error';

/** An acquisition has ended without a lease. */
export interface RequestMissEvent extends RequestEvent {
  /** Time from the start to this end, in milliseconds. */
  readonly waitedMs: number;
  /** The reason. */
  readonly reason: MissReason;
  /** The error that the acquisition failed with, if it failed with one. */
  readonly error: unknown;
}

/** A lease is given back, lost or not. Published right before another caller can have the key. */
export interface RequestEndEvent extends RequestEvent {
  /** The lease. */
  readonly lease: Lease;
  /** Time from the grant to this end, in milliseconds. */
  readonly heldMs: number;
  /** The last state of the lease. */
  readonly state: LeaseState;
}

/**
 * Runs work inside something else, such as an async context. It must call `work` once, before it returns, and return
 * its result.
 */
export type WorkWrapper = <T>(work: () => T) => T;

/** The work of `using` or of a decorated method is about to begin under a lease that was granted for it. */
export interface HoldEvent extends RequestEvent {
  /** The lease. */
  readonly lease: Lease;
  /**
   * Makes the work run inside `wrapper`. To be called by a subscriber, before it returns. The first one is outermost. A
   * wrapper that throws, or does not call the work, is left out.
   */
  around(wrapper: WorkWrapper): void;
}

/** The state of a lease has changed: it is suspended, or it is held again. */
export interface LeaseEvent extends RequestEvent {
  /** The lease. */
  readonly lease: Lease;
}

/** The holder of a lease is asked to release it, or the lease is lost. */
export interface LeaseFailureEvent extends LeaseEvent {
  /** The error that the lease's signal aborted with. */
  readonly error: LockError;
}

/** A lease has been held for one of its limits. */
export interface LeaseOverdueEvent extends LeaseEvent {
  /** The option whose time has passed. After `maxHeldMs`, the holder is asked to release the key. */
  readonly limit: 'warnHeldMs' | 'maxHeldMs';
  /** The value of that option, in milliseconds. */
  readonly limitMs: number;
}

/** This process gives up a lease of the backend that its callers have shared. */
export interface LocalEndEvent extends OriginatedEvent {
  /** The key as the application wrote it. */
  readonly key: string;
  /** The mode of the lease. */
  readonly mode: LeaseMode;
  /** The number of hand-overs in memory, from one caller to the next. */
  readonly handOvers: number;
  /** Time for which the process has had the key, in milliseconds. */
  readonly heldMs: number;
  /** Waiting time of callers of this process that its holders have caused, in milliseconds, added up. */
  readonly blockedMs: number;
  /**
   * The reason:
   * - `idle`: no caller of this process needs the key any more.
   * - `bounds`: other processes wait, and the limit on hand-overs was reached.
   * - `closed`: the lease was suspended, revoked, downgraded, or ended by the shutdown.
   * - `lost`: the lease was lost.
   */
  readonly why: 'idle' | 'bounds' | 'closed' | 'lost';
}

/** The connection of a backend has changed its state. */
export interface SessionEvent extends OriginatedEvent, SessionChange {}

/** An application leads, leads no more, or cannot campaign. */
export interface ElectionEvent extends OriginatedEvent {
  /** The change. `trouble`: a campaign has failed, and is repeated. */
  readonly change: 'elected' | 'deposed' | 'trouble';
  /** The name of the election. */
  readonly name: string;
  /** The fencing token of the term. `undefined` with `trouble`. */
  readonly term: bigint | undefined;
  /** The error of the campaign. Only with `trouble`. */
  readonly error: unknown;
}

/** Something happened to a job with `@CronLock`. */
export interface CronEvent extends OriginatedEvent {
  /** The event, as `CronRunsService.events` emits it. */
  readonly event: JobEvent;
}

/** Items of a queue were put, taken, acknowledged or returned. */
export interface QueueEvent extends OriginatedEvent {
  /** The action of this process. `returned`: put back without an acknowledgement. */
  readonly action: 'put' | 'taken' | 'acked' | 'returned';
  /** The key of the queue, as the application wrote it. */
  readonly key: string;
  /** The number of items. More than 1 only with `put`. */
  readonly count: number;
  /** The id of the item. `undefined` with `put`. */
  readonly itemId: string | undefined;
  /**
   * Time from the call to this event, in milliseconds: with `taken` the wait for an item, with `put` that for room.
   * `undefined` with the others, and when nobody listened at the call.
   */
  readonly waitedMs: number | undefined;
}

/** A call of a stock has ended, or has to be repeated. */
export interface StockEvent extends OriginatedEvent {
  /** The result. `conflict`: another process changed the stock at the same time, and the call is repeated. */
  readonly result: 'sold' | 'soldOut' | 'refunded' | 'restocked' | 'conflict';
  /** The key of the stock, as the application wrote it. */
  readonly key: string;
  /** The number of units that were asked for. 0 with `refunded` and `conflict`, where it is not known. */
  readonly units: number;
  /** The number of segments that the units were taken from. 0 unless `sold`. */
  readonly parts: number;
  /** The number of tries so far. 0 unless `conflict`. */
  readonly tries: number;
}

/** A caller of this process asks the holders of a key to release it. */
export interface RevokeEvent extends OriginatedEvent {
  /** The key as the application wrote it. */
  readonly key: string;
  /** The time that the holders have, in milliseconds. */
  readonly graceMs: number;
  /** Whether the key is taken away at once: `graceMs` is 0. */
  readonly forced: boolean;
}

/** A channel of `node:diagnostics_channel` with the type of its events. */
export interface EventChannel<Event extends OriginatedEvent> {
  /** The name of the channel, for `diagnostics_channel.subscribe`. */
  readonly name: string | symbol;
  /** Whether there is a subscriber in this process. It is checked before an event is made. */
  readonly hasSubscribers: boolean;
  /**
   * Calls `listener` with every event of the process. An error that it throws does not reach the lock. Node raises it
   * as an `uncaughtException`, so a listener must catch its own errors.
   */
  subscribe(listener: (event: Event, name: string | symbol) => void): void;
  /** Ends a subscription. Returns whether there was one. */
  unsubscribe(listener: (event: Event, name: string | symbol) => void): boolean;
  /** Calls all subscribers. */
  publish(event: Event): void;
}

function channelOf<Event extends OriginatedEvent>(name: string): EventChannel<Event> {
  return channel(`nestjs-distributed-lock:${name}`) as unknown as EventChannel<Event>;
}

/**
 * The channels of this package, one set for the whole process. Their names begin with `nestjs-distributed-lock:`.
 *
 * The events of an acquisition (`request.…`, `hold`, `lease.…`) are published only if `request.start` had a subscriber
 * when the acquisition began. So whatever a subscriber needs, it subscribes to `request.start` as well, and sees only
 * acquisitions that it knows from their start. Each of them has one start and then one grant or one miss. Each grant has
 * one end.
 */
export const channels = Object.freeze({
  /** An acquisition begins. */
  requestStart: channelOf<RequestStartEvent>('request.start'),
  /** A lease is granted. */
  requestGrant: channelOf<RequestGrantEvent>('request.grant'),
  /** An acquisition has ended without a lease. */
  requestMiss: channelOf<RequestMissEvent>('request.miss'),
  /** A lease is given back. */
  requestEnd: channelOf<RequestEndEvent>('request.end'),
  /** Work under a lease is about to begin. */
  hold: channelOf<HoldEvent>('hold'),
  /** A lease is suspended. */
  leaseSuspended: channelOf<LeaseEvent>('lease.suspended'),
  /** A suspended lease is held again. */
  leaseResumed: channelOf<LeaseEvent>('lease.resumed'),
  /** The holder of a lease is asked to release it. */
  leaseRevoking: channelOf<LeaseFailureEvent>('lease.revoking'),
  /** A lease has been held for one of its limits. */
  leaseOverdue: channelOf<LeaseOverdueEvent>('lease.overdue'),
  /** A lease is lost. */
  leaseLost: channelOf<LeaseFailureEvent>('lease.lost'),
  /** This process gives up a lease that its callers have shared. */
  localEnd: channelOf<LocalEndEvent>('local.end'),
  /** A connection has changed its state. */
  session: channelOf<SessionEvent>('session'),
  /** An application leads, leads no more, or cannot campaign. */
  election: channelOf<ElectionEvent>('election'),
  /** Something happened to a job. */
  cron: channelOf<CronEvent>('cron'),
  /** Items of a queue were put, taken, acknowledged or returned. */
  queue: channelOf<QueueEvent>('queue'),
  /** A call of a stock has ended, or is repeated. */
  stock: channelOf<StockEvent>('stock'),
  /** A caller of this process revokes a key. */
  revoke: channelOf<RevokeEvent>('revoke'),
});
