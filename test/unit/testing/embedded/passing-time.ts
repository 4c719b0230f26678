import { onTestFinished } from 'vitest';
import { EmbeddedEnsemble } from '../../../../lib/testing/index.js';
import type { EmbeddedEnsembleOptions } from '../../../../lib/testing/index.js';

/** The tick of ensembles whose time passes only by `advance()`. */
export const TICK_MS = 1_000;

export async function startTimed(options: EmbeddedEnsembleOptions = {}, servers = 3): Promise<EmbeddedEnsemble> {
  const ensemble = await EmbeddedEnsemble.start(servers, { tickTimeMs: TICK_MS, clock: 'manual', ...options });
  onTestFinished(() => ensemble.stop());
  return ensemble;
}

/** Time passes, a millisecond at a time, until it is settled. Answers how much has passed, and with what it ended. */
export async function passUntil<T>(ensemble: EmbeddedEnsemble, promise: Promise<T>): Promise<[ms: number, value: T]> {
  const startedAt = ensemble.nowMs;
  let isSettled = false;
  const settle = () => (isSettled = true);
  promise.then(settle, settle);
  for (;;) {
    await ensemble.idle();
    if (isSettled) return [ensemble.nowMs - startedAt, await promise];
    if (ensemble.nowMs - startedAt > 100 * TICK_MS) throw new Error('not within 100 ticks');
    ensemble.advance(1);
  }
}

/** Time passes, and everything that happens in it is heard. */
export async function pass(ensemble: EmbeddedEnsemble, ms: number): Promise<void> {
  ensemble.advance(ms);
  await ensemble.idle();
}
