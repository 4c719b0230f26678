import type { GrantedLease } from '../contract/granted-lease.js';

const MOST_NAMED = 10;

/** Returns a text about leases for the log: their number, and some of them with key, label and start. */
export function leasesText(leases: readonly GrantedLease[]): string {
  const named = leases.slice(0, MOST_NAMED).map(leaseText).join(', ');
  const more = leases.length - MOST_NAMED;
  return `${leases.length} ${leases.length === 1 ? 'lease' : 'leases'}: ${named}${more > 0 ? ` and ${more} more` : ''}`;
}

function leaseText({ key, label, acquiredAt }: GrantedLease): string {
  return `"${key}" (${label === undefined ? '' : `${label}, `}held since ${acquiredAt.toISOString()})`;
}
