import { join } from 'node:path';
import { ROOT } from '../support/repository-root.js';

/** The recordings of a real server. They are part of the repository. */
export const RECORDED = join(ROOT, 'test', 'conformance', 'recorded');

/** The document that contains the results. */
export const RESULTS = join(ROOT, 'docs', 'CONFORMANCE.md');

const OUTPUT = join(ROOT, 'build', 'conformance');

/** The library and these tests as JavaScript. */
export const COMPILED = join(OUTPUT, 'js');

/** Copies of the library, each with a defect. */
export const BROKEN = join(OUTPUT, 'broken');

/** The program that runs an embedded server in a separate process. */
export const SERVER_PROGRAM = join(COMPILED, 'test', 'conformance', 'servers', 'embedded-program.js');
