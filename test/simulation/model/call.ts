/** The version of a shared value; `absent` while nobody has written it. */
export type Version = number | 'absent';

type ElectionAsk = 'campaign' | 'resign' | 'proclaim' | 'leader' | 'poll' | 'observe';

/** What is asked of something that all processes share. */
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
  /** `member`: the call that entered. Who goes out waits for nobody. */
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
 * How a call ended. `nothing`: `null`, "not this time". `unknown`: it may have been made, and may still be.
 * `failed`: with something that no promise speaks of.
 */
export type CallOutcome = 'done' | 'nothing' | 'timeout' | 'aborted' | 'lost' | 'unknown' | 'refused' | 'failed';

/** An item of a queue as it was taken. */
export interface TakenEntry {
  readonly id: string;
  readonly value: string;
  readonly token: string;
}

/** What came back, where it says something that is judged. */
export interface Answer {
  readonly outcome: CallOutcome;
  /** Of a counter, a number; of a value, its text; of a number of units or permits, that; of a refund or a question, yes or no. */
  readonly value?: number | string | boolean | undefined;
  readonly version?: Version | undefined;
  readonly items?: readonly TakenEntry[] | undefined;
  readonly error?: string | undefined;
}
