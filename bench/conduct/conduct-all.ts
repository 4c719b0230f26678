import type { Contender, ContenderId } from '../contenders/contender.js';
import { CONTENDERS } from '../contenders/contenders.js';
import { Crews } from '../crew/crews.js';
import type { BenchOptions } from '../options.js';
import { Servers } from '../servers/servers.js';
import { SHAPES, shortened } from '../shapes.js';
import type { Shape } from '../shapes.js';
import type { House } from './perform.js';
import { perform } from './perform.js';
import { Progress } from './progress.js';
import { failureOf } from './result.js';
import type { Result } from './result.js';

// The warm-up of a new server, as a multiple of the usual warm-up of a client.
const SERVER_BREAK_IN = 10;

/** The results of a run, and the shapes for which its time was too short. */
interface Conducted {
  readonly results: readonly Result[];
  readonly cut: readonly string[];
}

/** Runs every contender on every shape, as often as there are rounds, for as long as there is time. */
export async function conductAll(options: BenchOptions): Promise<Conducted> {
  const end = performance.now() + options.limitMs;
  await using servers = new Servers(SERVER_BREAK_IN * options.warmUpMs);
  const crews = new Crews();
  const house = { servers, crews, options };
  const turns = shapesOf(options).flatMap((shape) => turnsOf(shape, options));
  const progress = new Progress(turns.length);
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

interface Turn {
  readonly shape: Shape;
  readonly contender: Contender;
  readonly round: number;
}

function shapesOf({ shapes, isShort }: BenchOptions): Shape[] {
  const running = SHAPES.filter(({ id }) => shapes.length === 0 || shapes.includes(id));
  return isShort ? running.map(shortened) : running;
}

/**
 * Returns the turns in interleaved rounds, so that a slow minute of the machine affects everybody. No contender is
 * always first.
 */
function turnsOf(shape: Shape, { rounds, contenders }: BenchOptions): Turn[] {
  const isWanted = (id: ContenderId) => contenders.length === 0 || contenders.includes(id) || id === shape.reference;
  const ids = [...shape.contenders.filter(isWanted), ...contenders.filter((id) => id === 'no-lock')];
  // The reference comes first: the server is warm only when the reference's processes are.
  const inOrder = [shape.reference, ...[...CONTENDERS.keys()].filter((id) => id !== shape.reference)];
  const running = inOrder.filter((id) => ids.includes(id)).map((id) => CONTENDERS.get(id)!);
  return Array.from({ length: rounds }, (_, round) => {
    const first = round % running.length;
    return [...running.slice(first), ...running.slice(0, first)].map((contender) => ({ shape, contender, round }));
  }).flat();
}

async function take(house: House, { shape, contender, round }: Turn): Promise<Result> {
  const turn = { shape: shape.id, contender: contender.id, round };
  try {
    const measured = await perform(house, shape, contender);
    return { ...turn, ...measured, ...failureOf(measured, house.options) };
  } catch (error) {
    return { ...turn, figures: {}, acquisitions: 0, overlaps: 0, failure: String(error) };
  }
}
