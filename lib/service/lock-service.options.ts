import { check, checkFields } from '../contract/check.js';
import type { ResolvedAcquireOptions } from '../contract/acquire.options.js';
import type { OnContention } from '../contract/contention.js';
import { HOLDING_FIELDS } from '../contract/holding.options.js';
import type { HoldingOptions } from '../contract/holding.options.js';
import type { Line } from '../contract/lock-request.js';
import { SHARING_FIELDS } from './sharing.options.js';
import type { SharingOptions } from './sharing.options.js';

export interface MutexOptions extends SharingOptions, HoldingOptions {
  /**
   * `'fifo'` (default): contenders stand in line, first come first served. `'none'`: for try-only use such as cron guards.
   * An acquisition that is not the first is told so at once; it never waits.
   */
  readonly line?: Line | undefined;
  /** `false`: entering the key when the call already holds it is a `LockReentrancyError`. Default `true`. */
  readonly reentrant?: boolean | undefined;
}

/** Merges with the defaults and checks. @throws LockConfigurationError that names the wrong field */
export function resolveMutexOptions(options: MutexOptions): Required<Pick<MutexOptions, 'line' | 'reentrant'>> {
  checkFields('mutex options', options, ['line', 'reentrant', ...SHARING_FIELDS, ...HOLDING_FIELDS]);
  const { line = 'fifo', reentrant = true } = options;
  check(line === 'fifo' || line === 'none', 'line', line, "'fifo' or 'none'");
  check(typeof reentrant === 'boolean', 'reentrant', reentrant, 'true or false');
  return { line, reentrant };
}

/** What a `LockService` is made with; `LockModule` fills it from its options. */
export interface LockServiceOptions extends SharingOptions, HoldingOptions {
  readonly connectionName: string;
  /** The service that jobs, elections, queues, barriers and shared values belong to. */
  readonly service?: string | undefined;
  readonly waitMs: number;
  readonly drainTimeoutMs: number;
  readonly connectOnStart: 'required' | 'background';
  readonly warnShutdownHooks?: boolean | undefined;
  /** What `using` and decorated methods do when their lease was lost, unless they say. */
  readonly onLost?: ResolvedAcquireOptions['onLost'] | undefined;
  /** What decorated methods do that can not have their lock, unless they say. */
  readonly onContention?: OnContention | undefined;
}
