import { BREAK_IN } from '../crew/programs.js';
import type { BenchOptions } from '../options.js';
import { processesOf } from './turns.js';
import type { Turn } from './turns.js';

/** Processes that share processors with others need as much more time to break in as so many. */
const FEWEST_SHARING = 4;
/** The warm-up of a new server on a Java machine, as a multiple of the usual warm-up of a client. */
const SERVER_BREAK_IN = 10;

/** The times of a loop. */
export interface TurnTimes {
  readonly warmUpMs: number;
  readonly windowMs: number;
}

/**
 * Returns the times of a turn.
 *
 * @param workedMs how long the least experienced of its processes has worked with these locks
 */
export function timesOf(turn: Turn, workedMs: number, options: BenchOptions, processors: number): TurnTimes {
  const share = turn.shape.kind === 'loop' ? turn.shape.timeShare : 1;
  const warmUpMs = options.isShort ? options.warmUpMs : warmUpOf(turn, workedMs, options, processors);
  // A longer window needs no longer warm-up. A shorter one has little memory, also for what the warm-up writes down.
  return { warmUpMs: Math.min(1, share) * warmUpMs, windowMs: share * options.windowMs };
}

/** Returns how long a new server works before its first turn. */
export function serverBreakInMs({ warmUpMs }: BenchOptions): number {
  return SERVER_BREAK_IN * warmUpMs;
}

/**
 * Returns the warm-up time.
 * - Each process gets as much processor time as a single one would have.
 * - The process with the least experience of these locks gets the rest of its break-in time.
 *
 * A process that has just connected, or was idle for a while, runs its code as if for the first time.
 */
function warmUpOf({ shape, contender }: Turn, workedMs: number, options: BenchOptions, processors: number): number {
  const processes = processesOf(shape);
  const breakInMs = options.warmUpMs * BREAK_IN[contender.program] * Math.max(FEWEST_SHARING, processes);
  return options.warmUpMs * Math.max(1, processes / processors) + Math.max(0, breakInMs - workedMs);
}
