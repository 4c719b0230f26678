import { Random } from '../../robustness/random.js';
import { ProcessClock } from './process-clock.js';
import { SimProcess } from './sim-process.js';
import { World } from './world.js';

export interface SomeProcess {
  readonly rate?: number;
  readonly callbackUs?: number;
  readonly seed?: number;
}

/** A process for tests. */
export function someProcess(
  world: World,
  name = 'one',
  { rate = 1, callbackUs = 0, seed = 1 }: SomeProcess = {},
): SimProcess {
  return new SimProcess(world, name, new ProcessClock(rate, 0, 0), new Random(`${seed}/${name}`), callbackUs);
}
