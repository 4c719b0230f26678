import { join } from 'node:path';
import { applyEdits } from '../../support/edit.js';
import { COMPILED } from '../places.js';
import type { Defect } from './defects.js';

/** Plants the defect in the library that the workers will load. Disposing of the result removes it again. */
export function plant({ edits }: Defect): Disposable {
  return applyEdits(edits, join(COMPILED, 'lib'));
}
