import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The root directory of the repository, found from the sources and from their compiled form. */
export const ROOT = rootAbove(dirname(fileURLToPath(import.meta.url)));

function rootAbove(dir: string): string {
  return existsSync(join(dir, 'package.json')) ? dir : rootAbove(dirname(dir));
}
