import { onTestFinished } from 'vitest';
import { EmbeddedEnsemble } from '../../../../lib/testing/index.js';
import type { EmbeddedEnsembleOptions, EnsembleMember } from '../../../../lib/testing/index.js';
import { RawClient } from '../../../integration/ensemble/behaviours/raw-client.js';

/** The tick of ensembles whose time passes only by `advance()`. */
export const TICK_MS = 1_000;

/** Of a session, unless another one is asked for. */
export const TIMEOUT_MS = 4_000;

export async function startTimed(options: EmbeddedEnsembleOptions = {}, servers = 3): Promise<EmbeddedEnsemble> {
  const ensemble = await EmbeddedEnsemble.start(servers, { tickTimeMs: TICK_MS, clock: 'manual', ...options });
  onTestFinished(() => ensemble.stop());
  return ensemble;
}

/** The leader of the beginning, and the others. */
export function rolesOf({ servers }: EmbeddedEnsemble): [EnsembleMember, EnsembleMember, EnsembleMember] {
  return servers as [EnsembleMember, EnsembleMember, EnsembleMember];
}

/** A new session at this server, and how long it took to open it. */
export async function openAt(ensemble: EmbeddedEnsemble, server: EnsembleMember, timeoutMs = TIMEOUT_MS) {
  const [ms, client] = await passUntil(ensemble, RawClient.open(server, { timeoutMs }));
  if (!client) throw new Error('turned away');
  return { ms, client, session: server.session(client.session.sessionId) };
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
