import { APPLICATIONS } from './applications.mjs';
import { COMPILERS } from './compilers.mjs';
import { TESTS } from './tests.mjs';

/** Every set-up: a `name` to run it by, a `title` for the table, and `run(context)`, which rejects when it fails. */
export const SET_UPS = [...TESTS, ...APPLICATIONS, ...COMPILERS];
