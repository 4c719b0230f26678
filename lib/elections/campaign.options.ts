import { resolveAcquireOptions } from '../contract/acquire.options.js';
import { checkFields } from '../contract/check.js';
import type { AcquireOptions } from '../contract/lock.js';
import { checkProclaimed } from '../contract/elections.js';
import type { Candidature } from '../service/election-client.js';

/** The options of a campaign. */
export interface CampaignOptions extends Pick<AcquireOptions, 'signal'> {
  /** The time to campaign, in milliseconds; 0 asks once. Default: no limit. */
  readonly waitMs?: number | undefined;
  /** The value to proclaim when elected: up to 64 kB, for all callers that ask for the leader. Default: nothing. */
  readonly value?: string | undefined;
  /** The participant's id, which all observers see, clients of other kinds included. Default `host:pid`. */
  readonly label?: string | undefined;
}

export const DEFAULTS = Object.freeze({ waitMs: Infinity });

const FIELDS = ['signal', 'waitMs', 'value', 'label'];

/** Merges with the defaults and checks. @throws LockConfigurationError that names the wrong field */
export function resolveCampaignOptions(options: CampaignOptions): Candidature {
  checkFields('campaign options', options, FIELDS);
  const { value, ...acquire } = options;
  if (value !== undefined) checkProclaimed(value);
  const { waitMs, signal, label } = resolveAcquireOptions(acquire, DEFAULTS);
  return { waitMs, signal, label, value };
}
