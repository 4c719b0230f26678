import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { COMPILED } from '../places.js';
import type { Defect, Edit } from './defects.js';

/** Puts the defect into what the workers will load. Disposing of it takes it out again. */
export function plant({ edits }: Defect): Disposable {
  const undo = edits.map(apply).reverse();
  return { [Symbol.dispose]: () => undo.forEach((undoOne) => undoOne()) };
}

/** Answers how to undo it. */
function apply({ file, replace, by }: Edit): () => void {
  const path = join(COMPILED, 'lib', file);
  const sound = readFileSync(path, 'utf8');
  if (!sound.includes(replace)) throw new Error(`lib/${file} does not contain: ${replace}`);
  writeFileSync(
    path,
    sound.replace(replace, () => by),
  );
  return () => writeFileSync(path, sound);
}
