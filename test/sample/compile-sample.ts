import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { compileProject } from '../support/compile-project.js';
import { ROOT } from '../support/repository-root.js';

/** The sample runs on the built package, as an application of a user does. */
export default async (): Promise<void> => {
  if (!existsSync(join(ROOT, 'dist/index.js'))) throw new Error('there is no dist: run `npm run build` first');
  await compileProject('sample-app');
};
