import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('..', import.meta.url));

/** The folders of many short files, which share processes: loading NestJS and lib took most of their time. */
export const SHARED = ['test/unit', 'test/examples/unit', 'test/nest', 'test/redis', 'test/etcd'];

const REPLACES = /\bvi\.(mock|doMock|resetModules|useFakeTimers)\(/;
const SAYS_SO = /^\/\/ alone: /m;

/**
 * Whether a file of these folders has a process of its own. It has if it replaces a module or the timers for all that
 * its process loads, or if it says `// alone: reason`.
 */
export function isAlone(file: string): boolean {
  if (!SHARED.some((folder) => file.startsWith(`${folder}/`))) return false;
  const text = readFileSync(join(ROOT, file), 'utf8');
  return REPLACES.test(text) || SAYS_SO.test(text);
}

export const ALONE: readonly string[] = SHARED.flatMap((folder) =>
  readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.spec.ts'))
    .map((name) => `${folder}/${name}`)
    .filter(isAlone),
);
