import { Logger } from '@nestjs/common';
import type { Dispose } from '../async/abort.js';
import { channels } from '../contract/channels.js';
import type {
  CronEvent,
  ElectionEvent,
  EventChannel,
  EventOrigin,
  HoldEvent,
  LeaseEvent,
  LeaseFailureEvent,
  LeaseOverdueEvent,
  LocalEndEvent,
  OriginatedEvent,
  QueueEvent,
  RequestEndEvent,
  RequestGrantEvent,
  RequestMissEvent,
  RequestStartEvent,
  RevokeEvent,
  SessionEvent,
  StockEvent,
} from '../contract/channels.js';

/** The events of a connection, by name. */
export interface LockEventTypes {
  /** An acquisition begins. `acquired` or `missed` follows. */
  readonly waiting: RequestStartEvent;
  /** A lease was granted. `released` follows. */
  readonly acquired: RequestGrantEvent;
  /** The work of `using` or of a decorated method is about to begin under its lease. It can be wrapped. */
  readonly holding: HoldEvent;
  /** An acquisition has ended without a lease. */
  readonly missed: RequestMissEvent;
  /** A lease was given back, lost or not. */
  readonly released: RequestEndEvent;
  /** A lease is suspended: the servers are out of reach. `resumed` or `lost` follows, unless it is released. */
  readonly suspended: LeaseEvent;
  /** A suspended lease is held again. */
  readonly resumed: LeaseEvent;
  /** The holder of a lease is asked to release it. */
  readonly revoking: LeaseFailureEvent;
  /** A lease has been held for `warnHeldMs`, or for `maxHeldMs`. */
  readonly overdue: LeaseOverdueEvent;
  /** A lease is lost. */
  readonly lost: LeaseFailureEvent;
  /** The process gives up a lease that its callers have shared. */
  readonly localEnd: LocalEndEvent;
  /** The connection has changed its state. */
  readonly session: SessionEvent;
  /** This application leads, leads no more, or cannot campaign. */
  readonly election: ElectionEvent;
  /** Something happened to a job with `@CronLock`. */
  readonly cron: CronEvent;
  /** Items of a queue were put, taken, acknowledged or returned. */
  readonly queue: QueueEvent;
  /** A call of a stock has ended, or is repeated. */
  readonly stock: StockEvent;
  /** A caller of this application asks the holders of a key to release it. */
  readonly revoke: RevokeEvent;
}

type ChannelsByType = { readonly [T in keyof LockEventTypes]: EventChannel<LockEventTypes[T]> };

const CHANNELS: ChannelsByType = {
  waiting: channels.requestStart,
  acquired: channels.requestGrant,
  holding: channels.hold,
  missed: channels.requestMiss,
  released: channels.requestEnd,
  suspended: channels.leaseSuspended,
  resumed: channels.leaseResumed,
  revoking: channels.leaseRevoking,
  overdue: channels.leaseOverdue,
  lost: channels.leaseLost,
  localEnd: channels.localEnd,
  session: channels.session,
  election: channels.election,
  cron: channels.cron,
  queue: channels.queue,
  stock: channels.stock,
  revoke: channels.revoke,
};

/** The events of acquisitions. They are published only while `request.start` has a subscriber. */
const OF_ACQUISITIONS: ReadonlySet<keyof LockEventTypes> = new Set([
  'acquired',
  'holding',
  'missed',
  'released',
  'suspended',
  'resumed',
  'revoking',
  'overdue',
  'lost',
]);

/** A listener for events. What it returns is not used; a promise that it returns may reject. */
export type LockEventListener<T extends keyof LockEventTypes> = (event: LockEventTypes[T]) => unknown;

const logger = new Logger('LockEvents');

/**
 * The events of one connection, `locks.events`: `locks.events.on('lost', ({ lease, error }) => …)`. They cost nothing
 * while nobody listens. Listeners are called at once, in the middle of the work of the lock, so they must be quick. An
 * event that concerns a waiting caller may run in the async context of another one, see `RequestGrantEvent`.
 */
export class LockEvents {
  readonly #origin: EventOrigin;
  readonly #disposals = new Set<Dispose>();
  #isClosed = false;

  /** @internal */
  constructor(origin: EventOrigin) {
    this.#origin = origin;
  }

  /**
   * Calls `listener` with every event of this type, until the returned function is called or the application has shut
   * down. Events of an acquisition that has begun before are left out. An error that the listener throws, or rejects
   * with, is logged once and changes nothing.
   */
  on<T extends keyof LockEventTypes>(type: T, listener: LockEventListener<T>): () => void {
    if (this.#isClosed) return () => {};
    const leave = [subscribe(CHANNELS[type], this.#toOwn(type, listener))];
    if (OF_ACQUISITIONS.has(type)) leave.push(subscribe(channels.requestStart, () => {}));
    const dispose = () => {
      leave.splice(0).forEach((end) => end());
      this.#disposals.delete(dispose);
    };
    this.#disposals.add(dispose);
    return dispose;
  }

  /** @internal Ends all subscriptions. */
  close(): void {
    this.#isClosed = true;
    [...this.#disposals].forEach((dispose) => dispose());
  }

  /** Returns the listener for events of this connection only, whose errors are caught and logged once. */
  #toOwn<T extends keyof LockEventTypes>(type: T, listener: LockEventListener<T>): (event: OriginatedEvent) => void {
    let hasFailed = false;
    const failed = (error: unknown) => {
      if (hasFailed) return;
      hasFailed = true;
      const stack = error instanceof Error ? error.stack : String(error);
      logger.error(`a listener for "${type}" has failed. Its further failures are not logged`, stack);
    };
    return (event) => {
      if (event.origin !== this.#origin) return;
      try {
        const result = listener(event as LockEventTypes[T]);
        if (result instanceof Promise) result.catch(failed);
      } catch (error) {
        failed(error);
      }
    };
  }
}

function subscribe<E extends OriginatedEvent>(channel: EventChannel<E>, listener: (event: E) => void): Dispose {
  channel.subscribe(listener);
  return () => void channel.unsubscribe(listener);
}
