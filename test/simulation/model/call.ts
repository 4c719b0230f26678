/** The version of a shared value; `absent` while it was never written. */
export type Version = number | 'absent';

type ElectionAsk = 'campaign' | 'resign' | 'proclaim' | 'leader' | 'poll' | 'observe';

/** A call on an object that all processes share. */
export type Call =
  | { readonly on: 'counter'; readonly key: string; readonly ask: 'get' }
  | { readonly on: 'counter'; readonly key: string; readonly ask: 'add'; readonly delta: number }
  | { readonly on: 'value'; readonly key: string; readonly ask: 'get' | 'remove' }
  | { readonly on: 'value'; readonly key: string; readonly ask: 'set'; readonly value: string }
  | {
      readonly on: 'value';
      readonly key: string;
      readonly ask: 'compareAndSet';
      readonly version: Version;
      readonly value: string;
    }
  | { readonly on: 'barrier'; readonly key: string; readonly ask: 'raise' | 'lift' | 'wait' | 'isUp' }
  | { readonly on: 'double barrier'; readonly key: string; readonly ask: 'enter'; readonly count: number }
  /** `member` is the call that entered. `go out` waits for nobody. */
  | { readonly on: 'double barrier'; readonly key: string; readonly ask: 'leave' | 'go out'; readonly member: string }
  | { readonly on: 'stock'; readonly key: string; readonly ask: 'available' }
  | {
      readonly on: 'stock';
      readonly key: string;
      readonly ask: 'restock';
      readonly units: number;
      readonly restockId: string;
    }
  | {
      readonly on: 'stock';
      readonly key: string;
      readonly ask: 'deduct';
      readonly units: number;
      readonly orderId: string;
    }
  | { readonly on: 'stock'; readonly key: string; readonly ask: 'refund'; readonly orderId: string }
  | { readonly on: 'queue'; readonly key: string; readonly ask: 'put'; readonly values: readonly string[] }
  | { readonly on: 'queue'; readonly key: string; readonly ask: 'take'; readonly atMost: number }
  | {
      readonly on: 'queue';
      readonly key: string;
      readonly ask: 'ack' | 'nack';
      readonly value: string;
      readonly token: string;
    }
  | { readonly on: 'queue'; readonly key: string; readonly ask: 'size' }
  | {
      readonly on: 'semaphore';
      readonly key: string;
      readonly ask: 'acquire' | 'setPermits';
      readonly permits: number;
    }
  | { readonly on: 'semaphore'; readonly key: string; readonly ask: 'permits' }
  | { readonly on: 'election'; readonly key: string; readonly ask: ElectionAsk }
  | { readonly on: 'job'; readonly key: string; readonly ask: 'fire'; readonly tick: number }
  | { readonly on: 'segments'; readonly key: string; readonly ask: 'acquire' }
  | { readonly on: 'lock'; readonly key: string; readonly ask: 'contenders' | 'revoke' };

/**
 * The outcome of a call.
 * - `nothing`: `null`, "not this time".
 * - `unknown`: it may have been made, and may still be.
 * - `failed`: an error that no promise mentions.
 */
export type CallOutcome = 'done' | 'nothing' | 'timeout' | 'aborted' | 'lost' | 'unknown' | 'refused' | 'failed';

/** An item of a queue as it was taken. */
export interface TakenEntry {
  readonly id: string;
  readonly value: string;
  readonly token: string;
}

/** The parts of an answer that are judged. */
export interface Answer {
  readonly outcome: CallOutcome;
  /**
   * A number for a counter, a text for a value, a number of units or permits, or a boolean for a refund or a question.
   */
  readonly value?: number | string | boolean | undefined;
  readonly version?: Version | undefined;
  readonly items?: readonly TakenEntry[] | undefined;
  readonly error?: string | undefined;
}
