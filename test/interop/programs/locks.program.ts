/**
 * This library's locks, for tests that alternate with the locks of other libraries. Arguments: connect string, session
 * timeout.
 */
import type { Lease } from '../../../lib/contract/lease.js';
import type { Lock } from '../../../lib/contract/lock.js';
import { plainService } from '../../support/plain-service.js';
import { runCommands } from '../support/commands.js';
import type { LockOn } from '../support/lock-program.js';

const WITHOUT_LINE = 'mutex without a line';

interface Held {
  readonly lease: Lease;
  /** When the lease was lost, if it was. */
  lostAt: number | undefined;
}

const [connectString = '', sessionTimeoutMs = ''] = process.argv.slice(2);
const locks = await plainService({ connectString, sessionTimeoutMs: Number(sessionTimeoutMs) });
const held = new Map<string, Held>();
const sharedNow = () => Number(process.hrtime.bigint());

runCommands({
  acquire: async ({ path, kind, waitMs }: LockOn & { readonly waitMs: number }) => {
    // Without a wait queue, there is no waiting time.
    const options = kind === WITHOUT_LINE ? {} : { waitMs };
    const lease = await lockOf({ path, kind }).tryAcquire(options);
    if (!lease) return null;
    const holding: Held = { lease, lostAt: undefined };
    lease.signal.addEventListener('abort', () => (holding.lostAt = sharedNow()), { once: true });
    held.set(`${kind} ${path}`, holding);
    return sharedNow();
  },
  release: async ({ path, kind }: LockOn) => {
    const name = `${kind} ${path}`;
    const { lease, lostAt } = held.get(name) ?? {};
    held.delete(name);
    const heldUntil = lostAt ?? sharedNow();
    await lease?.release();
    return heldUntil;
  },
});

function lockOf({ path, kind }: LockOn): Lock {
  switch (kind) {
    case 'mutex':
      return locks.mutex(path);
    case WITHOUT_LINE:
      return locks.mutex(path, { line: 'none' });
    case 'read':
      return locks.readWriteLock(path).read;
    case 'write':
      return locks.readWriteLock(path).write;
    default:
      throw new Error(`no such kind: ${kind}`);
  }
}
