import { isRelative, targetOf } from './source-tree.js';
import type { SourceTree } from './source-tree.js';

/** Returns the paths on a cycle of imports, types included, or `undefined` when there is none. */
export function findImportCycle(tree: SourceTree): readonly string[] | undefined {
  const done = new Set<string>();
  const trail: string[] = [];

  const visit = (path: string): readonly string[] | undefined => {
    if (trail.includes(path)) return [...trail.slice(trail.indexOf(path)), path];
    if (done.has(path)) return undefined;
    trail.push(path);
    const cycle = firstDefined(neighboursOf(tree, path), visit);
    trail.pop();
    done.add(path);
    return cycle;
  };

  return firstDefined([...tree.keys()], visit);
}

function neighboursOf(tree: SourceTree, path: string): string[] {
  const specifiers = (tree.get(path) ?? []).map(({ specifier }) => specifier);
  return specifiers.filter(isRelative).map((specifier) => targetOf(path, specifier));
}

function firstDefined<T, R>(items: readonly T[], find: (item: T) => R | undefined): R | undefined {
  for (const item of items) {
    const found = find(item);
    if (found !== undefined) return found;
  }
  return undefined;
}
