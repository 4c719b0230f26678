import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** What is replaced in a compiled file below lib/, to break it on purpose. */
export interface Edit {
  readonly file: string;
  readonly replace: string;
  readonly by: string;
}

/**
 * Makes the edits in a library that is compiled in `lib`; disposing of them undoes them.
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

/** Answers how to undo it. */
function applyEdit({ file, replace, by }: Edit, lib: string): () => void {
  const path = join(lib, file);
  const sound = readFileSync(path, 'utf8');
  if (!sound.includes(replace)) throw new Error(`lib/${file} does not contain: ${replace}`);
  writeFileSync(
    path,
    sound.replace(replace, () => by),
  );
  return () => writeFileSync(path, sound);
}
