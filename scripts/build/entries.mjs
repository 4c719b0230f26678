import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { ROOT } from '../support/command.mjs';

export const at = (path) => fileURLToPath(new URL(path, ROOT));

/** The modules that an application imports, by their place in dist/. */
export const ENTRIES = [
  'index',
  'testing/index',
  'redis/index',
  'etcd/index',
  'terminus/index',
  'metrics/index',
  'opentelemetry/index',
  'dashboard/index',
];

/** The program that `npx` runs. */
export const PROGRAM = 'command/nestjs-distributed-lock';

export const PEERS = Object.keys(JSON.parse(readFileSync(at('package.json'), 'utf8')).peerDependencies);

/** The input of a bundler: what tsc made of the entries of lib/. */
export const compiled = (names, kind) =>
  Object.fromEntries(names.map((name) => [name, at(`build/package/${name}${kind}`)]));

/** Nothing of other packages is copied into this one. */
export const isForeign = (id) => !/^(\.|\/|[A-Za-z]:[\\/])/.test(id);

export function write(path, text) {
  const file = at(`dist/${path}`);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
}
