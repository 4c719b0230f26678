import { expect } from 'vitest';
import type { LockBackend } from '../../lib/contract/lock-backend.js';
import type { SessionChange } from '../../lib/contract/survey.js';
import type { FaultProxy } from '../../lib/testing/index.js';

/** The changes of a connection that is interrupted, interrupted until its session has ended, and closed. */
export const SESSION_STORY: readonly string[] = [
  'undefined > connected',
  'connected > suspended',
  'suspended > connected',
  'connected > suspended',
  'suspended > lost',
  'lost > connected',
  'connected > closed',
];

const PATIENTLY = { timeout: 20_000, interval: 10 };

/**
 * A connection from its start to its end: an interruption that the session outlives, one that it does not, and the
 * close. Checks the vitals in between. Returns the changes that the backend has told.
 * @param sessionTimeoutMs the session timeout of the client
 * @param expire lets the session end while the proxy interrupts it
 */
export async function sessionStory(
  client: LockBackend,
  proxy: FaultProxy,
  sessionTimeoutMs: number,
  expire = () => untilLost(client, proxy),
): Promise<readonly string[]> {
  const told: SessionChange[] = [];
  const vitals = () => client.vitals?.() ?? expect.unreachable('the backend has no vitals');
  const states = () => told.map(({ before, state }) => `${before} > ${state}`);
  client.observe?.((change) => told.push(change));
  expect(vitals()).toEqual({
    sessionId: undefined,
    sessionTimeoutMs: undefined,
    marginMs: undefined,
    server: undefined,
  });
  await client.connect();
  const first = vitals();
  expect(first).toMatchObject({ sessionId: expect.stringMatching(/./), sessionTimeoutMs });
  expect(first.marginMs).toBeGreaterThan(0);
  expect(first.marginMs).toBeLessThanOrEqual(sessionTimeoutMs);
  expect(first.server).toContain(String(proxy.port));

  proxy.refuse();
  proxy.disconnect();
  await expect.poll(states, PATIENTLY).toEqual(['undefined > connected', 'connected > suspended']);
  expect(vitals()).toMatchObject({ sessionId: first.sessionId, server: undefined });
  proxy.heal();
  await expect.poll(() => states().at(-1), PATIENTLY).toBe('suspended > connected');
  expect(vitals().sessionId).toBe(first.sessionId);

  await expire();
  await expect.poll(() => states().at(-1), PATIENTLY).toBe('lost > connected');
  expect(vitals().sessionId).not.toBe(first.sessionId);
  await client.close();
  expect(told.filter(({ state }) => state !== 'connected').every(({ why }) => why)).toBe(true);
  expect(told.slice(0, 5).map(({ sessionId }) => sessionId)).toEqual(Array(5).fill(first.sessionId));
  expect(vitals().server).toBeUndefined();
  return states();
}

/** Interrupts the connection until the client's own clock has ended the session. */
async function untilLost(client: LockBackend, proxy: FaultProxy): Promise<void> {
  const { signal } = new AbortController();
  const lease = await client.acquire({ key: 'held', mode: 'exclusive', line: 'fifo', wait: true, signal });
  proxy.refuse();
  proxy.disconnect();
  await expect.poll(() => lease?.state, PATIENTLY).toBe('lost');
  proxy.heal();
}
