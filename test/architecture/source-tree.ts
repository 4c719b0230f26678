import { readdirSync, readFileSync } from 'node:fs';
import { join, posix, sep } from 'node:path';
import { importsOf } from './source-import.js';
import type { SourceImport } from './source-import.js';

/** Source files by their path below lib/, with their imports. */
export type SourceTree = ReadonlyMap<string, readonly SourceImport[]>;

export function sourceTree(texts: Iterable<readonly [path: string, text: string]>): SourceTree {
  return new Map([...texts].map(([path, text]) => [path, importsOf(text)]));
}

export function readSourceTree(dir: string): SourceTree {
  const paths = readdirSync(dir, { recursive: true, encoding: 'utf8' }).filter((path) => /\.[cm]?tsx?$/.test(path));
  return sourceTree(paths.map((path) => [path.split(sep).join('/'), readFileSync(join(dir, path), 'utf8')]));
}

/** The file that a relative specifier means. It need not exist. */
export function targetOf(path: string, specifier: string): string {
  return posix.join(posix.dirname(path), specifier).replace(/\.js$/, '.ts');
}

export function isRelative(specifier: string): boolean {
  return specifier.startsWith('.');
}
