import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { ROOT } from '../support/repository-root.js';

/** The page's own modules run in a browser: they are compiled apart from the library. */
export default async (): Promise<void> => {
  await promisify(execFile)(process.execPath, ['scripts/build/page.mjs'], { cwd: ROOT });
};
