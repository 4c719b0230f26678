import type { ShopFiles } from '../files/shop-files.js';
import type { Activity } from './activity.js';
import type { Tally } from './answer.js';
import type { Cluster } from './cluster.js';
import type { Sizes } from './options.js';

/** The environment of a scene. */
export interface Stage {
  readonly shop: Cluster;
  /** The files that the instances use: for preparing the scene, and for counting its results. */
  readonly files: ShopFiles;
  readonly activity: Activity;
  readonly sizes: Sizes;
  readonly signal: AbortSignal;
}

export interface Outcome extends Tally {
  /** The number of violations. */
  readonly violations: number;
  /** Other observations. */
  readonly remark: string;
}

export interface Scene {
  readonly name: string;
  /** One sentence that describes the scene. */
  readonly story: string;
  /** The name of the violation; it is printed after a number. */
  readonly violation: string;
  play(stage: Stage): Promise<Outcome>;
}
