import { join } from 'node:path';
import { ROOT } from '../support/repository-root.js';

/** Where everything goes that a run leaves behind. */
export const OUTPUT = join(ROOT, 'build', 'simulation');

/** The library and the simulation as JavaScript. */
export const COMPILED = join(OUTPUT, 'js');
