import { join } from 'node:path';
import { applyEdits } from '../../support/edit.js';
import { COMPILED } from '../places.js';
import type { Defect } from './defects.js';

/** Puts the defect into what the workers will load. Disposing of it takes it out again. */
export function plant({ edits }: Defect): Disposable {
  return applyEdits(edits, join(COMPILED, 'lib'));
}
