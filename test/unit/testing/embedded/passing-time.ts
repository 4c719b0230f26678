import { onTestFinished } from 'vitest';
import { EmbeddedEnsemble } from '../../../../lib/testing/index.js';
import type { EmbeddedEnsembleOptions, EnsembleMember } from '../../../../lib/testing/index.js';
import { RawClient } from '../../../integration/ensemble/behaviours/raw-client.js';

/** The tick of ensembles whose time passes only by `advance()`. */
export const TICK_MS = 1_000;

/** The default timeout of a session. */
export const TIMEOUT_MS = 4_000;

export async function startTimed(options: EmbeddedEnsembleOptions = {}, servers = 3): Promise<EmbeddedEnsemble> {
  const ensemble = await EmbeddedEnsemble.start(servers, { tickTimeMs: TICK_MS, clock: 'manual', ...options });
  onTestFinished(() => ensemble.stop());
  return ensemble;
}

/** The first leader, and the others. */
export function rolesOf({ servers }: EmbeddedEnsemble): [EnsembleMember, EnsembleMember, EnsembleMember] {
  return servers as [EnsembleMember, EnsembleMember, EnsembleMember];
}

/** A new session at this server, and the time that it took to open it. */
export async function openAt(ensemble: EmbeddedEnsemble, server: EnsembleMember, timeoutMs = TIMEOUT_MS) {
  const [ms, client] = await passUntil(ensemble, RawClient.open(server, { timeoutMs }));
  if (!client) throw new Error('turned away');
  return { ms, client, session: server.session(client.session.sessionId) };
}

/** Advances the time by milliseconds until the promise is settled. Returns the time that passed, and the value. */
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

/** Advances the time, and waits until everything that this causes has happened. */
export async function pass(ensemble: EmbeddedEnsemble, ms: number): Promise<void> {
  ensemble.advance(ms);
  await ensemble.idle();
}
