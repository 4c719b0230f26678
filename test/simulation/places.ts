import { join } from 'node:path';
import { ROOT } from '../support/repository-root.js';

/** The directory of everything that a run writes. */
export const OUTPUT = join(ROOT, 'build', 'simulation');

/** The library and the simulation as JavaScript. */
export const COMPILED = join(OUTPUT, 'js');
