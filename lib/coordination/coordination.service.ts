import { checkFields } from '../contract/check.js';
import { LockShutdownError } from '../contract/errors.js';
import { connectionToken, DEFAULT_CONNECTION } from '../service/connection-token.js';
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

export interface SharedCounterOptions {
  /** What the counter is while nobody has written it. Default 0. */
  readonly initial?: number | undefined;
}

export interface SharedValueOptions<T> {
  /** What the value is while nobody has written it. */
  readonly initial: T;
  /** How the value becomes bytes. Default `'json'`. */
  readonly codec?: CodecOption<T> | undefined;
}

/**
 * Queues, barriers and shared values by key, on one connection and over the same session as its locks. What it returns is
 * cheap and holds no state: make one where you need it. A queue and a barrier of the same key have nothing to do with each
 * other, nor with a lock. All belong to the module's `service`; a key that begins with a slash belongs to none: it is a path
 * that is taken as it is, to share it with other services and with Curator's clients.
 *
 * Each call throws a LockConfigurationError for a key that is none, and for one that needs a service when none is set.
 */
export class CoordinationService {
  // No #private members here: Nest may be told to put its providers behind a Proxy, which has none.
  private readonly stopping = new AbortController();
  private readonly waiting: Waiting;

  constructor(private readonly locks: LockService) {
    this.waiting = new Waiting(locks, this.stopping.signal);
  }

  /** The name that this connection was registered under. */
  get connectionName(): string {
    return this.locks.connectionName;
  }

  /** First put, first taken; every item is delivered at least once. */
  queue(key: string, options: QueueOptions<Uint8Array> & { readonly codec: 'bytes' }): Queue<Uint8Array>;
  queue<T = unknown>(key: string, options?: QueueOptions<T>): Queue<T>;
  queue<T>(key: string, options: QueueOptions<T> = {}): Queue<T> {
    return new Queue(this.named('queue', key), resolveQueueOptions(options), this.waiting);
  }

  /** Up or down, for all who come to it. */
  barrier(key: string): Barrier {
    return new Barrier(this.named('barrier', key), this.waiting);
  }

  /** Entered together and left together, by as many as agreed. */
  doubleBarrier(key: string, options: DoubleBarrierOptions): DoubleBarrier {
    return new DoubleBarrier(this.named('double barrier', key), resolveDoubleBarrierOptions(options), this.waiting);
  }

  /** A whole number of 32 bits; Curator's `SharedCount` at the same path is the same. */
  counter(key: string, options: SharedCounterOptions = {}): SharedCounter {
    checkFields('counter options', options, ['initial']);
    const { initial = 0 } = options;
    checkInt32('initial', initial);
    return new SharedCounter(this.named('counter', key), { codec: INT32_CODEC, initial }, this.waiting);
  }

  /** Any small value; with `codec: 'bytes'`, Curator's `SharedValue` at the same path is the same. */
  value<T>(key: string, options: SharedValueOptions<T>): SharedValue<T> {
    checkFields('value options', options, ['initial', 'codec']);
    const { initial, codec } = options;
    return new SharedValue(this.named('value', key), { codec: resolveCodec(codec), initial }, this.waiting);
  }

  /** @internal What is there may still be taken; nobody waits any more. */
  beforeApplicationShutdown(): void {
    this.stopping.abort(new LockShutdownError());
  }

  /** A wrong name is refused here, and not when something is asked of it. */
  private named(kind: OwnedKind, name: string): Named {
    return { key: name, at: this.locks.names.keyOf({ kind, name }) };
  }
}

/**
 * The injection token of the `CoordinationService` of a connection: the class itself for the default one, a symbol that is
 * the same for the same name for the others.
 */
export function getCoordinationToken(name: string = DEFAULT_CONNECTION): typeof CoordinationService | symbol {
  return name === DEFAULT_CONNECTION ? CoordinationService : connectionToken('CoordinationService', name);
}
