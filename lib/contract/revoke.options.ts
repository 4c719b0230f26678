import { checkFields, checkMs, checkSignal } from './check.js';

export interface RevokeOptions {
  /**
   * How long the holders may take to give the key back, in milliseconds; then it is taken away from them by force.
   * `Infinity`: never by force. Default 10 000.
   */
  readonly graceMs?: number | undefined;
  /** Ends the call, which rejects with `signal.reason`. Holders stay asked to give way; nothing is taken by force. */
  readonly signal?: AbortSignal | undefined;
}

export interface ResolvedRevokeOptions {
  readonly graceMs: number;
  readonly signal: AbortSignal | undefined;
}

export const DEFAULTS = Object.freeze({ graceMs: 10_000 });

const FIELDS = ['graceMs', 'signal'];

/** Merges with the defaults and checks. @throws LockConfigurationError that names the wrong field */
export function resolveRevokeOptions(options: RevokeOptions): ResolvedRevokeOptions {
  checkFields('revoke options', options, FIELDS);
  const { graceMs = DEFAULTS.graceMs, signal } = options;
  checkMs('graceMs', graceMs);
  checkSignal(signal);
  return { graceMs, signal };
}
