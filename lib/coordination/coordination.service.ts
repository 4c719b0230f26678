import { checkFields } from '../contract/check.js';
import { LockShutdownError } from '../contract/errors.js';
import { connectionToken, DEFAULT_CONNECTION } from '../service/connection-token.js';
import type { LockConnection } from '../service/lock-connection.js';
import { connectionOf } from '../service/lock.service.js';
import type { LockService } from '../service/lock.service.js';
import type { OwnedKind } from '../service/service-names.js';
import { Barrier } from './barrier.js';
import { resolveCodec } from './codec.js';
import type { CodecOption } from './codec.js';
import { DoubleBarrier, resolveDoubleBarrierOptions } from './double-barrier.js';
import type { DoubleBarrierOptions } from './double-barrier.js';
import { Queue } from './queue.js';
import { resolveQueueOptions } from './queue.options.js';
import type { QueueOptions } from './queue.options.js';
import { checkInt32, INT32_CODEC, SharedCounter, SharedValue } from './shared-value.js';
import { Waiting } from './waiting.js';
import type { Named } from './waiting.js';

/** The options of a shared counter. */
export interface SharedCounterOptions {
  /** The value of the counter until it has been written. Default 0. */
  readonly initial?: number | undefined;
}

/** The options of a shared value. */
export interface SharedValueOptions<T> {
  /** The value until it has been written. */
  readonly initial: T;
  /** The conversion of the value to bytes. Default `'json'`. */
  readonly codec?: CodecOption<T> | undefined;
}

/**
 * Queues, barriers and shared values by key, on one connection and over the same session as its locks. The objects that
 * it returns are cheap and hold no state: make one where you need it. A queue and a barrier of the same key are
 * independent of each other, and of a lock of that key. All belong to the module's `service`. A key that begins with a
 * slash belongs to none. It is a path that is used unchanged, to share it with other services and with Curator clients.
 *
 * Each call throws a LockConfigurationError for a key that is not valid, and for one that needs a service when none is
 * set.
 */
export class CoordinationService {
  // No #private members here: Nest may be configured to wrap its providers in a Proxy, which has none.
  private readonly stopping = new AbortController();
  private readonly waiting: Waiting;
  private readonly connection: LockConnection;

  constructor(locks: LockService) {
    this.connection = connectionOf(locks);
    this.waiting = new Waiting(this.connection, this.stopping.signal);
  }

  /** The name that this connection was registered under. */
  get connectionName(): string {
    return this.connection.options.connectionName;
  }

  /** A queue: first put, first taken. Every item is delivered at least once. */
  queue(key: string, options: QueueOptions<Uint8Array> & { readonly codec: 'bytes' }): Queue<Uint8Array>;
  queue<T = unknown>(key: string, options?: QueueOptions<T>): Queue<T>;
  queue<T>(key: string, options: QueueOptions<T> = {}): Queue<T> {
    this.connection.warnOfLoss('queue()');
    return new Queue(this.named('queue', key), resolveQueueOptions(options), this.waiting);
  }

  /** A barrier that is up or down for all processes. */
  barrier(key: string): Barrier {
    return new Barrier(this.named('barrier', key), this.waiting);
  }

  /** A barrier that `count` members enter together and leave together. */
  doubleBarrier(key: string, options: DoubleBarrierOptions): DoubleBarrier {
    return new DoubleBarrier(this.named('double barrier', key), resolveDoubleBarrierOptions(options), this.waiting);
  }

  /** A whole number of 32 bits. It is the same as Curator's `SharedCount` at the same path. */
  counter(key: string, options: SharedCounterOptions = {}): SharedCounter {
    checkFields('counter options', options, ['initial']);
    const { initial = 0 } = options;
    checkInt32('initial', initial);
    return new SharedCounter(this.named('counter', key), { codec: INT32_CODEC, initial }, this.waiting);
  }

  /** A small value. With `codec: 'bytes'` it is the same as Curator's `SharedValue` at the same path. */
  value<T>(key: string, options: SharedValueOptions<T>): SharedValue<T> {
    checkFields('value options', options, ['initial', 'codec']);
    const { initial, codec } = options;
    return new SharedValue(this.named('value', key), { codec: resolveCodec(codec), initial }, this.waiting);
  }

  /** @internal Existing items may still be taken; no call waits any more. */
  beforeApplicationShutdown(): void {
    this.stopping.abort(new LockShutdownError());
  }

  /** Makes the name of an object. A wrong name is refused here, not at the first request. */
  private named(kind: OwnedKind, name: string): Named {
    return { key: name, at: this.connection.names.keyOf({ kind, name }) };
  }
}

/**
 * The injection token of the `CoordinationService` of a connection. For the default connection it is the class itself.
 * For the others it is a symbol that is the same for the same name.
 */
export function getCoordinationToken(name: string = DEFAULT_CONNECTION): typeof CoordinationService | symbol {
  return name === DEFAULT_CONNECTION ? CoordinationService : connectionToken('CoordinationService', name);
}
