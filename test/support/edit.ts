import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** A replacement in a compiled file below lib/, to break it on purpose. */
export interface Edit {
  readonly file: string;
  readonly replace: string;
  readonly by: string;
}

/**
 * Makes the edits in the library that is compiled in `lib`. Disposing of the result undoes them.
 * @throws Error when a file does not contain what is to be replaced: a defect that breaks nothing proves nothing
 */
export function applyEdits(edits: readonly Edit[], lib: string): Disposable {
  const undo: (() => void)[] = [];
  const undoAll = () => undo.reverse().forEach((undoOne) => undoOne());
  try {
    for (const edit of edits) undo.push(applyEdit(edit, lib));
  } catch (error) {
    undoAll();
    throw error;
  }
  return { [Symbol.dispose]: undoAll };
}

/**
 * Returns the file's text with the edit made in it.
 * @throws Error when the text does not contain what is to be replaced
 */
export function edited(text: string, { file, replace, by }: Edit): string {
  if (!text.includes(replace)) throw new Error(`lib/${file} does not contain: ${replace}`);
  return text.replace(replace, () => by);
}

/** Returns a function that undoes the edit. */
function applyEdit(edit: Edit, lib: string): () => void {
  const path = join(lib, edit.file);
  const sound = readFileSync(path, 'utf8');
  writeFileSync(path, edited(sound, edit));
  return () => writeFileSync(path, sound);
}
