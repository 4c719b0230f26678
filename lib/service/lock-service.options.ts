import type { Line } from '../contract/lock-request.js';
import type { SharingOptions } from './sharing.options.js';

export interface MutexOptions extends SharingOptions {
  /**
   * `'fifo'` (default): contenders stand in line, first come first served. `'none'`: for try-only use such as cron guards.
   * An acquisition that is not the first is told so at once; it never waits.
   */
  readonly line?: Line;
  /** `false`: entering the key when the call already holds it is a `LockReentrancyError`. Default `true`. */
  readonly reentrant?: boolean;
}

/** What a `LockService` is made with; `LockModule` fills it from its options. */
export interface LockServiceOptions extends SharingOptions {
  readonly connectionName: string;
  readonly waitMs: number;
  readonly drainTimeoutMs: number;
  readonly connectOnStart: 'required' | 'background';
}
