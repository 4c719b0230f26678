import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

interface Manifest {
  readonly dependencies?: Record<string, string>;
  readonly peerDependencies?: Record<string, string>;
  readonly peerDependenciesMeta?: Record<string, { readonly optional?: boolean }>;
}

/**
 * Returns the folders below `home`, a node_modules, of the named packages and of all that these need. Paths are
 * relative to `home` and may be nested: `@nestjs/core`, `express/node_modules/debug`.
 */
export function installedPackages(home: string, names: Iterable<string>): ReadonlySet<string> {
  const found = new Set<string>();
  const add = (name: string, user: string): void => {
    const folder = resolve(home, name, user);
    if (folder === undefined || found.has(folder)) return;
    found.add(folder);
    for (const needed of neededBy(join(home, folder))) add(needed, folder);
  };
  for (const name of names) add(name, '');
  return found;
}

/** Finds a package for another one: in the other's own node_modules, or in that of one of the packages around it. */
function resolve(home: string, name: string, user: string): string | undefined {
  const nested = user === '' ? name : `${user}/node_modules/${name}`;
  if (existsSync(join(home, nested))) return nested;
  return user === ''
    ? undefined
    : resolve(home, name, user.split('/node_modules/').slice(0, -1).join('/node_modules/'));
}

function neededBy(folder: string): string[] {
  const manifest = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as Manifest;
  const { dependencies = {}, peerDependencies = {}, peerDependenciesMeta = {} } = manifest;
  const peers = Object.keys(peerDependencies).filter((name) => !peerDependenciesMeta[name]?.optional);
  return [...Object.keys(dependencies), ...peers];
}
