import { setTimeout as pause } from 'node:timers/promises';
import { sharedNow } from '../clock.js';
import type { Leftover } from '../model/history.js';
import type { Servers } from '../servers/servers.js';

const LIMIT_MS = 20_000;
const POLL_MS = 50;

/** Finds what the servers still have. Repeated until there is nothing, or until it is clear that it stays. */
export async function leftoversOf(servers: Servers, basePath: string, when: Leftover['when']): Promise<Leftover[]> {
  const startedAt = sharedNow();
  for (;;) {
    const stored = servers.stored(basePath, when === 'closed');
    const left = await stored.catch((error: unknown) => [`no answer: ${String(error)}`]);
    if (left.length === 0 || sharedNow() - startedAt > LIMIT_MS) return left.map((what) => ({ when, what }));
    await pause(POLL_MS);
  }
}
