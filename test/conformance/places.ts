import { join } from 'node:path';
import { ROOT } from '../support/repository-root.js';

/** What was recorded from a real server; part of the repository. */
export const RECORDED = join(ROOT, 'test', 'conformance', 'recorded');

/** Where the results are told. */
export const RESULTS = join(ROOT, 'docs', 'CONFORMANCE.md');

const OUTPUT = join(ROOT, 'build', 'conformance');

/** The library and these tests as JavaScript. */
export const COMPILED = join(OUTPUT, 'js');

/** Copies of the library, each with a defect. */
export const BROKEN = join(OUTPUT, 'broken');

/** What runs an embedded server in a process of its own. */
export const SERVER_PROGRAM = join(COMPILED, 'test', 'conformance', 'servers', 'embedded-program.js');
