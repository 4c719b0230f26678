import { cpSync, mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { applyEdits } from '../../support/edit.js';
import { BROKEN, COMPILED } from '../places.js';
import type { Defect } from './defect.js';

/** A copy of the compiled library with a defect in it. Disposing of it removes the copy. */
export interface BrokenLibrary extends Disposable {
  readonly lib: string;
}

/** @throws Error when the library has changed so that the defect no longer applies */
export function breakLibrary({ name, edits }: Defect): BrokenLibrary {
  const dir = join(BROKEN, name);
  const lib = join(dir, 'lib');
  rmSync(dir, { recursive: true, force: true });
  mkdirSync(dir, { recursive: true });
  cpSync(join(COMPILED, 'lib'), lib, { recursive: true, filter: (path) => !path.endsWith('.map') });
  applyEdits(edits, lib);
  return { lib, [Symbol.dispose]: () => rmSync(dir, { recursive: true, force: true }) };
}
