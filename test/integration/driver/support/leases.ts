import type { Lease } from '../../../../lib/contract/lease.js';
import { eventually } from '../../../support/eventually.js';

export { lost } from '../../../support/lost.js';

export async function untilState(lease: Lease, state: Lease['state']): Promise<void> {
  await eventually(() => lease.state === state || undefined, `a lease that is ${state}`);
}
