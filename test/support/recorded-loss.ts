import type { LockBackend } from '../../lib/contract/lock-backend.js';

/** Writes the record of lost leases, as another client could: one loss of another service, changed by `fields`. */
export async function recordLoss({ records }: Pick<LockBackend, 'records'>, fields: object = {}): Promise<void> {
  const by = { service: 'billing', host: 'shop-7', pid: 42 };
  const what = {
    reason: 'the session is over (expired)',
    leases: 1,
    named: [{ key: 'order/1', label: 'Orders.place' }],
  };
  const loss = { id: 'a', at: new Date(Date.now() - 1_260_000).toISOString(), ...by, ...what, ...fields };
  await records.write([{ name: 'losses', value: JSON.stringify([loss]) }]);
}
