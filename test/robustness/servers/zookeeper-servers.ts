import { setTimeout as pause } from 'node:timers/promises';
import { sharedNow } from '../clock.js';
import type { Leftover, WakeUps } from '../model/history.js';
import type { Servers } from './servers.js';

const LIMIT_MS = 20_000;
const POLL_MS = 50;

/** Finds what the servers still have. Repeated until there is nothing, or until it is clear that it stays. */
export async function leftoversOf(servers: Servers, when: Leftover['when']): Promise<Leftover[]> {
  const startedAt = sharedNow();
  for (;;) {
    const left = await stateOf(servers, when === 'closed').catch((error: unknown) => [`no answer: ${String(error)}`]);
    if (left.length === 0 || sharedNow() - startedAt > LIMIT_MS) return left.map((what) => ({ when, what }));
    await pause(POLL_MS);
  }
}

async function stateOf(servers: Servers, alsoSessions: boolean): Promise<string[]> {
  const [dumps = [], watches = [], metrics = []] = await Promise.all(
    ['dump', 'wchs', 'mntr'].map((word) => servers.ask(word)),
  );
  const ofEach = dumps.map((dump, place) => [
    ...(dump.match(/(?<=^\t)\/.+$/gm) ?? []).map((path) => `the ephemeral ${path}`),
    ...(/Total watches:(?!0\b)\d+/.exec(watches[place] ?? '') ?? []),
    ...(alsoSessions ? openSessions(metrics[place] ?? '') : []),
  ]);
  return [...new Set(ofEach.flat())].map((what) => `${what}, on server ${placesOf(what, ofEach)} of ${ofEach.length}`);
}

/** Names the servers, which distinguishes servers that disagree from a client that has left something behind. */
function placesOf(what: string, ofEach: readonly (readonly string[])[]): string {
  return ofEach.flatMap((all, place) => (all.includes(what) ? [place + 1] : [])).join(' and ');
}

function openSessions(metrics: string): string[] {
  const sessions = metric(metrics, 'zk_global_sessions');
  return sessions > 0 ? [`${sessions} open sessions`] : [];
}

/** Counts the watches that a deletion fired, on servers that have no other clients. */
export async function wakeUpsOf(servers: Servers): Promise<WakeUps> {
  const metrics = await servers.ask('mntr');
  return {
    deletions: metrics.reduce((sum, text) => sum + metric(text, 'zk_cnt_node_deleted_watch_count'), 0),
    mostWatchesOfOne: Math.max(...metrics.map((text) => metric(text, 'zk_max_node_deleted_watch_count'))),
  };
}

function metric(metrics: string, name: string): number {
  const [, value] = new RegExp(`^${name}\\s+(\\d+)`, 'm').exec(metrics) ?? [];
  if (value === undefined) throw new Error(`the server does not tell ${name}`);
  return Number(value);
}
