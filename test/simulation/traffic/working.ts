import { GivenUp } from '../../robustness/traffic/attempt.js';
import type { Believable } from '../../robustness/traffic/beliefs.js';
import type { AboutHold, Mode } from '../../robustness/model/history.js';
import { sharedNow } from '../../robustness/clock.js';
import { passSome } from './desk.js';
import type { Desk } from './desk.js';

/** Records a hold for as long as the work takes, or until it is lost. */
export async function workUnder(
  desk: Desk,
  held: Believable,
  about: AboutHold,
  mode: Mode = 'exclusive',
): Promise<void> {
  const { beliefs, orders, random } = desk;
  const belief = beliefs.begin(held, mode, random.pick(['asks', 'listens']), about);
  await passSome(desk, orders.workMs, held.signal);
  belief?.end();
}

interface Limits {
  readonly waitMs: number;
  readonly signal?: AbortSignal;
}

/**
 * Draws a call's options: a wait time, and occasionally a signal that aborts before that. `atMostMs` is the shorter of
 * both.
 */
export async function withLimits<T>(
  { random, orders }: Desk,
  ask: (limits: Limits, atMostMs: number) => Promise<T>,
): Promise<T> {
  const waitMs = random.pick(orders.waitsMs);
  if (random.chance(0.8)) return ask({ waitMs }, waitMs);
  const abort = new AbortController();
  const atMostMs = random.int(0, waitMs);
  const giveUp = setTimeout(() => abort.abort(new GivenUp('the caller gave up')), atMostMs);
  return ask({ waitMs, signal: abort.signal }, atMostMs).finally(() => clearTimeout(giveUp));
}

/** A key that all processes use for a while, at the same time. */
export function keyOfNow({ orders }: Desk, name: string): string {
  return `${name}-${Math.floor(sharedNow() / orders.epochMs)}`;
}
