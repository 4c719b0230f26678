import type { ShopFiles } from '../files/shop-files.js';
import type { Activity } from './activity.js';
import type { Tally } from './answer.js';
import type { Cluster } from './cluster.js';
import type { Sizes } from './options.js';

/** What a scene plays on. */
export interface Stage {
  readonly shop: Cluster;
  /** The same files that the instances see: to lay out the props, and to count what came of it. */
  readonly files: ShopFiles;
  readonly activity: Activity;
  readonly sizes: Sizes;
  readonly signal: AbortSignal;
}

export interface Outcome extends Tally {
  /** How often the thing that must not happen has happened. */
  readonly violations: number;
  /** What else was seen. */
  readonly remark: string;
}

export interface Scene {
  readonly name: string;
  /** What is going on, in a sentence. */
  readonly story: string;
  /** What must not happen: reads after a number. */
  readonly violation: string;
  play(stage: Stage): Promise<Outcome>;
}
