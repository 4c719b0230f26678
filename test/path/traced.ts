import { cpSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, sep } from 'node:path';
import { parseAst } from 'vite';
import { edited } from '../support/edit.js';
import type { Edit } from '../support/edit.js';
import { COMPILED } from './places.js';

interface Node {
  readonly type: string;
  readonly start: number;
  readonly end: number;
  readonly body?: Node | readonly Node[];
  readonly key?: { readonly name?: string };
  readonly id?: { readonly name?: string } | null;
  readonly value?: unknown;
}

const FUNCTIONS = ['FunctionDeclaration', 'FunctionExpression', 'ArrowFunctionExpression'];

/**
 * Copies the compiled code to `dir` with these edits. Adds a call of `noteStep` at the beginning of each function of
 * lib.
 */
export function writeTraced(dir: string, edits: readonly Edit[] = []): void {
  rmSync(dir, { recursive: true, force: true });
  cpSync(COMPILED, dir, { recursive: true });
  const lib = join(dir, 'lib');
  for (const path of readdirSync(lib, { recursive: true, encoding: 'utf8' })) {
    if (!path.endsWith('.js')) continue;
    const file = path.split(sep).join('/');
    const text = readFileSync(join(lib, path), 'utf8');
    const sound = edits.filter((edit) => edit.file === file).reduce(edited, text);
    writeFileSync(join(lib, path), traced(sound, file));
  }
}

/** The text of a module whose functions each begin with `noteStep("<file>:<function>")`. */
export function traced(text: string, file: string): string {
  const insertions: { at: number; text: string }[] = [];
  const enter = (node: Node, name: string) => {
    const step = `globalThis.noteStep?.(${JSON.stringify(`${file}:${name}`)})`;
    const body = node.body as Node;
    if (body.type === 'BlockStatement') insertions.push({ at: body.start + 1, text: ` ${step};` });
    else insertions.push({ at: body.start, text: `(${step}, ` }, { at: body.end, text: ')' });
  };
  walk(parseAst(text) as unknown as Node, { scope: '', name: '' }, (node, name) =>
    enter(node, name || `${lineOf(text, node.start)}`),
  );
  return insertions
    .sort((a, b) => b.at - a.at)
    .reduce((result, { at, text: inserted }) => result.slice(0, at) + inserted + result.slice(at), text);
}

function lineOf(text: string, at: number): number {
  return text.slice(0, at).split('\n').length;
}

/** The name of a function at its place: its class, and the method, field or variable that has it as its value. */
interface Place {
  readonly scope: string;
  readonly name: string;
}

/** Calls `found` with each function below, and with its name, which is empty where there is none. */
function walk(node: Node, { scope, name }: Place, found: (node: Node, name: string) => void): void {
  if (FUNCTIONS.includes(node.type)) found(node, node.id?.name ?? (name && scope + name));
  const below = {
    scope: node.type.startsWith('Class') && node.id ? `${node.id.name}.` : scope,
    name: nameGivenBy(node),
  };
  for (const value of Object.values(node)) {
    for (const child of Array.isArray(value) ? value : [value]) {
      if (isNode(child)) walk(child, below, found);
    }
  }
}

/** The name that a method, a field or a variable gives to the function in it. */
function nameGivenBy(node: Node): string {
  const named = ['MethodDefinition', 'PropertyDefinition', 'VariableDeclarator', 'Property'].includes(node.type);
  return named ? (node.key?.name ?? node.id?.name ?? '') : '';
}

function isNode(value: unknown): value is Node {
  return typeof value === 'object' && value !== null && typeof (value as Node).type === 'string';
}
