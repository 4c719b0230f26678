import { readdirSync, statSync } from 'node:fs';
import { join, posix } from 'node:path';
import { fileURLToPath } from 'node:url';

export const ROOT = fileURLToPath(new URL('../..', import.meta.url));

const NOT_OURS = new Set(['node_modules', 'dist', 'coverage']);

/**
 * The files at or below a path of the repository, without installed or built files. Empty if the path does not exist.
 */
export function filesBelow(path: string): string[] {
  const stat = statSync(join(ROOT, path), { throwIfNoEntry: false });
  if (!stat) return [];
  if (stat.isFile()) return [path];
  const names = readdirSync(join(ROOT, path)).filter((name) => !NOT_OURS.has(name));
  return names.flatMap((name) => filesBelow(posix.join(path, name)));
}
