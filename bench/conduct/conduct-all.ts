import { Crews } from '../crew/crews.js';
import type { BenchOptions } from '../options.js';
import { Servers } from '../servers/servers.js';
import { IdlePackets } from './idle-packets.js';
import type { House } from './perform.js';
import { perform } from './perform.js';
import { planOf } from './plan.js';
import { Progress } from './progress.js';
import { failureOf } from './result.js';
import type { Result } from './result.js';
import { serverBreakInMs } from './turn-times.js';
import { turnsOf } from './turns.js';
import type { Turn } from './turns.js';

/** The results of a run, and the shapes for which its time was too short. */
interface Conducted {
  readonly results: readonly Result[];
  readonly cut: readonly string[];
}

/** Runs every contender on every shape, as often as there are rounds, for as long as there is time. */
export async function conductAll(options: BenchOptions): Promise<Conducted> {
  const end = performance.now() + options.limitMs;
  await using servers = new Servers(serverBreakInMs(options));
  const crews = new Crews();
  const house = { servers, crews, idle: new IdlePackets(options.idleMs), options };
  const turns = turnsOf(options);
  const progress = new Progress(planOf(turns, options));
  const results: Result[] = [];
  try {
    for (const turn of turns) {
      if (performance.now() > end) break;
      const result = await take(house, turn);
      results.push(result);
      progress.show(result);
    }
  } finally {
    await crews.dismiss();
  }
  return { results, cut: [...new Set(turns.slice(results.length).map(({ shape }) => shape.id))] };
}

async function take(house: House, turn: Turn): Promise<Result> {
  const named = { shape: turn.shape.id, contender: turn.contender.id, round: turn.round };
  try {
    const measured = await perform(house, turn);
    return { ...named, ...measured, ...failureOf(measured, house.options) };
  } catch (error) {
    return { ...named, figures: {}, acquisitions: 0, overlaps: 0, failure: String(error) };
  }
}
