import type { Line } from '../contract/lock-request.js';
import type { SharingOptions } from './sharing.options.js';

export interface MutexOptions extends SharingOptions {
  /**
   * `'fifo'` (default): contenders stand in line, first come first served. `'none'`: one znode that everybody races
   * for, for try-only use such as cron guards; whoever comes while it is held is told so at once and nobody waits.
   */
  readonly line?: Line;
}

/** What a `LockService` is made with; `LockModule` fills it from its options. */
export interface LockServiceOptions extends SharingOptions {
  readonly connectionName: string;
  readonly waitMs: number;
  readonly drainTimeoutMs: number;
  readonly connectOnStart: 'required' | 'background';
}
