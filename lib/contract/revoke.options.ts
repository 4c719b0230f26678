import { checkFields, checkMs, checkSignal } from './check.js';

/** The options of `revoke`. */
export interface RevokeOptions {
  /**
   * Time that the holders have to release the key, in milliseconds. After that it is taken away by force. `Infinity`:
   * never by force. Default 10 000.
   */
  readonly graceMs?: number | undefined;
  /**
   * Aborts the call, which rejects with `signal.reason`. Holders remain asked to release the key. Nothing is taken by
   * force.
   */
  readonly signal?: AbortSignal | undefined;
}

/** The options of `revoke`, with the defaults filled in. */
export interface ResolvedRevokeOptions {
  /** The time that the holders have to release the key, in milliseconds. */
  readonly graceMs: number;
  /** Aborts the call, which rejects with `signal.reason`. */
  readonly signal: AbortSignal | undefined;
}

export const DEFAULTS = Object.freeze({ graceMs: 10_000 });

const FIELDS = ['graceMs', 'signal'];

/** Merges the options with the defaults and checks them. @throws LockConfigurationError that names the wrong field */
export function resolveRevokeOptions(options: RevokeOptions): ResolvedRevokeOptions {
  checkFields('revoke options', options, FIELDS);
  const { graceMs = DEFAULTS.graceMs, signal } = options;
  checkMs('graceMs', graceMs);
  checkSignal(signal);
  return { graceMs, signal };
}
