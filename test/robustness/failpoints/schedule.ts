import { setTimeout as pause } from 'node:timers/promises';
import { sharedNow } from '../clock.js';
import type { Fault } from '../model/history.js';
import { Random } from '../random.js';
import type { Damage, Failpoint, World } from './failpoint.js';
import { LINK_FAILPOINTS } from './links.js';
import { PROCESS_FAILPOINTS } from './processes.js';
import { SERVER_FAILPOINTS } from './servers.js';

const FAILPOINTS = { ...LINK_FAILPOINTS, ...PROCESS_FAILPOINTS, ...SERVER_FAILPOINTS };

export type FailpointName = keyof typeof FAILPOINTS;

/** Faults that happen one after another. Several lanes run concurrently. */
export type Lane = readonly FailpointName[];

export interface Schedule {
  readonly seed: number;
  readonly lane: string;
  readonly failpoints: Lane;
  readonly sessionTimeoutMs: number;
  /** The durations of faults, in session timeouts. Each fault has one of these. */
  readonly lengths: readonly FaultLength[];
}

export type FaultLength = readonly [from: number, to: number];

/** Long enough for a session to end. */
export const ENDS_SESSIONS: FaultLength = [1.3, 2.5];

/** Too short to lose a lease; about as long as a session lasts; longer. */
export const ALL_LENGTHS: readonly FaultLength[] = [[0.05, 0.35], [0.5, 1], ENDS_SESSIONS, ENDS_SESSIONS];

/** Receives the faults while they happen. */
export interface FaultLog {
  began(name: string, target: string): void;
  ended(fault: Fault): void;
}

/** Causes one fault after another and repairs it, until `over` aborts. The last one is repaired, too. */
export async function runLane(schedule: Schedule, world: World, over: AbortSignal, log: FaultLog): Promise<void> {
  const random = new Random(`${schedule.seed}/${schedule.lane}`);
  let deck: FailpointName[] = [];
  while (await passes(random.int(150, 700), over)) {
    // Every failpoint is used once before any is repeated.
    if (deck.length === 0) deck = random.sample(schedule.failpoints, schedule.failpoints.length);
    const name = deck.pop();
    if (name) await runFault(name, world, random, durationOf(random, schedule), over, log);
  }
}

async function runFault(
  name: FailpointName,
  world: World,
  random: Random,
  durationMs: number,
  over: AbortSignal,
  log: FaultLog,
): Promise<void> {
  const from = sharedNow();
  const failpoint: Failpoint = FAILPOINTS[name];
  const damage: Damage | undefined = await failpoint(world, random, durationMs);
  if (!damage) return;
  log.began(name, damage.target);
  await passes(durationMs, over);
  await damage.mend();
  log.ended({ name, target: damage.target, from, until: sharedNow() });
}

function durationOf(random: Random, { lengths, sessionTimeoutMs }: Schedule): number {
  const [from, to] = random.pick(lengths);
  return Math.round(sessionTimeoutMs * (from + (to - from) * random.next()));
}

/** Whether the time passed before `over` aborted. */
function passes(ms: number, over: AbortSignal): Promise<boolean> {
  return pause(ms, true, { signal: over }).catch(() => false);
}
