import { posix } from 'node:path';
import { findImportCycle } from './import-cycle.js';
import { LAYERS, ONE_FILE_PACKAGES } from './layers.js';
import type { Layer, Layered } from './layers.js';
import type { SourceImport } from './source-import.js';
import { isRelative, targetOf } from './source-tree.js';
import type { SourceTree } from './source-tree.js';

/** Describes everything in the tree that the table of layers does not allow. */
export function findViolations(tree: SourceTree): string[] {
  const cycle = findImportCycle(tree);
  return [
    ...[...tree].flatMap(([path, imports]) => violationsOfFile(tree, path, imports)),
    ...ONE_FILE_PACKAGES.flatMap((name) => filesBesideTheFirst(tree, name)),
    ...(cycle ? [`import cycle: ${cycle.join(' -> ')}`] : []),
  ];
}

function violationsOfFile(tree: SourceTree, path: string, imports: readonly SourceImport[]): string[] {
  const from = layerOf(path);
  if (!from) return [`${path}: is in no layer`];
  return imports.flatMap((one) => {
    const why = isRelative(one.specifier) ? fileForbidden(tree, path, from, one) : packageForbidden(LAYERS[from], one);
    return why ? [`${path}:${one.line}: ${why}`] : [];
  });
}

function fileForbidden(tree: SourceTree, path: string, from: Layered, one: SourceImport): string | undefined {
  const target = targetOf(path, one.specifier);
  const to = layerOf(target);
  const { mayImport, typesOnly = [], doors = {} } = LAYERS[from];
  if (!tree.has(target)) return `${one.specifier} is no file of lib/`;
  if (!to || to === from) return undefined;
  if (!mayImport.includes(to)) return `${from} may not import ${to} (${target})`;
  if (typesOnly.includes(to) && !one.isTypeOnly) return `${from} may import only types of ${to} (${target})`;
  const open = doors[to];
  if (open && !open.includes(target)) return `${from} may import ${open.join(' or ')} only, not ${target}`;
  return undefined;
}

function packageForbidden({ folder, packages }: Layer, { specifier }: SourceImport): string | undefined {
  const isBuiltIn = specifier.startsWith('node:');
  const allowed = packages.includes(specifier) || (isBuiltIn && packages.includes('node:*'));
  return allowed ? undefined : `${folder || 'root'} may not import ${specifier}`;
}

function filesBesideTheFirst(tree: SourceTree, name: string): string[] {
  const files = [...tree].filter(([, imports]) => imports.some(({ specifier }) => specifier === name));
  return files.slice(1).map(([path]) => `${path}: ${name} is imported by ${files[0]![0]} already`);
}

export function layerOf(path: string): Layered | undefined {
  const folder = posix.dirname(path) === '.' ? '' : posix.dirname(path);
  return Object.entries(LAYERS).find(([, layer]) => layer.folder === folder)?.[0] as Layered | undefined;
}
