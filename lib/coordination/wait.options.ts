import { checkFields, checkMs, checkSignal } from '../contract/check.js';

/** The end of a call that may wait. */
export interface WaitOptions {
  /** How long to wait, in milliseconds; 0 asks once. Default: the module's `waitMs`. */
  readonly waitMs?: number | undefined;
  /** Gives up waiting; the wait rejects with `signal.reason`, untouched. */
  readonly signal?: AbortSignal | undefined;
}

/** The end of a call that waits for no more than an answer. */
export type CallOptions = Pick<WaitOptions, 'signal'>;

const FIELDS = ['waitMs', 'signal'];

/** @throws LockConfigurationError that names the wrong field */
export function checkWaitOptions(options: WaitOptions, fields: readonly string[] = FIELDS, shortestMs = 0): void {
  checkFields('options', options, fields);
  const { waitMs, signal } = options;
  if (waitMs !== undefined) checkMs('waitMs', waitMs, shortestMs);
  checkSignal(signal);
}

/** @throws LockConfigurationError that names the wrong field */
export function checkCallOptions(options: CallOptions): void {
  checkWaitOptions(options, ['signal']);
}
