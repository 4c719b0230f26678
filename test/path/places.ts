import { join } from 'node:path';
import { ROOT } from '../support/repository-root.js';

const BUILD = join(ROOT, 'build', 'path');

/** The library and the programs as JavaScript. */
export const COMPILED = join(BUILD, 'js');

/** The same, with a recorded step at the beginning of each function of the library. */
export const TRACED = join(BUILD, 'traced');

/** The same as `TRACED`, with every shortcut switched off. */
export const PLAIN = join(BUILD, 'plain');
