import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The repository's own directory, seen from the sources and from what is compiled of them. */
export const ROOT = rootAbove(dirname(fileURLToPath(import.meta.url)));

function rootAbove(dir: string): string {
  return existsSync(join(dir, 'package.json')) ? dir : rootAbove(dirname(dir));
}
