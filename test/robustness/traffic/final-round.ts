import { setTimeout as pause } from 'node:timers/promises';
import { LockUnavailableError } from '../../../lib/contract/errors.js';
import type { Lease } from '../../../lib/contract/lease.js';
import { sharedNow } from '../clock.js';
import type { Mode } from '../model/history.js';
import type { ClientTools } from './client.js';
import { FINAL_MODES } from './orders.js';

const RETRY_PAUSE_MS = 100;

type FinalTools = Pick<ClientTools, 'locks' | 'beliefs' | 'journal'>;

/** Acquires every key in every mode once: after the faults, every worker must be granted everything. */
export async function runFinalRound(tools: FinalTools, keys: readonly string[], limitMs: number): Promise<void> {
  for (const mode of FINAL_MODES) await Promise.all(keys.map((key) => finalAcquisition(tools, key, mode, limitMs)));
}

async function finalAcquisition(tools: FinalTools, key: string, mode: Mode, limitMs: number): Promise<void> {
  const startedAt = sharedNow();
  let error: string | undefined;
  for (let mayTryAgain = true; mayTryAgain;) {
    mayTryAgain = false;
    error = await acquireOnce(tools, key, mode, limitMs).then(
      () => undefined,
      (reason: unknown) => {
        // The servers work again, but a client may still be reconnecting.
        mayTryAgain = reason instanceof LockUnavailableError && sharedNow() - startedAt < limitMs;
        return String(reason);
      },
    );
    if (mayTryAgain) await pause(RETRY_PAUSE_MS);
  }
  tools.journal.write({ what: 'final', key, mode, tookMs: sharedNow() - startedAt, error });
}

function acquireOnce({ locks, beliefs }: FinalTools, key: string, mode: Mode, waitMs: number): Promise<void> {
  const lock = mode === 'exclusive' ? locks.mutex(key) : locks.readWriteLock(key)[mode];
  const hold = async (lease: Lease) => {
    const belief = beliefs.begin(lease, mode, 'asks');
    await pause(1);
    belief?.end();
  };
  return lock.using(hold, { waitMs });
}
