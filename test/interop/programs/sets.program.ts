/** Acquires several locks at once, repeatedly. Arguments: connect string, session timeout. */
import { randomInt } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { LockTimeoutError } from '../../../lib/contract/errors.js';
import type { LockService } from '../../../lib/service/lock.service.js';
import { plainService } from '../../support/plain-service.js';
import { runCommands } from '../support/commands.js';
import type { SetOrders, SetReport } from '../support/opposite-orders.js';

const LONGEST_HOLD_MS = 3;
const [connectString = '', sessionTimeoutMs = ''] = process.argv.slice(2);
const locks = await plainService({ connectString, sessionTimeoutMs: Number(sessionTimeoutMs), localLine: false });
const sharedNow = () => Number(process.hrtime.bigint());

runCommands({ rounds });

async function rounds({ keys, how, rounds: count, waitMs }: SetOrders): Promise<SetReport> {
  const report: SetReport = { tenures: [], timeouts: 0 };
  for (let round = 0; round < count; round++) {
    await take(locks, keys, how, waitMs, report).catch((error: unknown) => {
      if (!(error instanceof LockTimeoutError)) throw error;
      report.timeouts++;
    });
  }
  return report;
}

function take(service: LockService, keys: readonly string[], how: SetOrders['how'], waitMs: number, report: SetReport) {
  const work = async () => {
    const from = sharedNow();
    await pause(randomInt(LONGEST_HOLD_MS));
    const to = sharedNow();
    report.tenures.push(...keys.map((lock) => ({ lock, from, to })));
  };
  if (how === 'nested') return nested(service, keys, waitMs, work);
  return service.multi(keys, { atomic: how === 'atomic' }).using(work, { waitMs });
}

/** The alternative to multi-locks: one lock inside the other, in the order of the caller. */
async function nested(
  service: LockService,
  keys: readonly string[],
  waitMs: number,
  work: () => Promise<void>,
): Promise<void> {
  const [first, ...others] = keys;
  if (first === undefined) return work();
  const inside = async () => {
    await pause(LONGEST_HOLD_MS);
    return nested(service, others, waitMs, work);
  };
  return service.using(first, inside, { waitMs });
}
