import type { Edit } from '../../support/edit.js';

/** A fault put into the embedded server on purpose, and the scenarios that have to show it. */
export interface Defect {
  readonly name: string;
  /** Of `test/conformance/scenarios`. */
  readonly group: string;
  readonly edits: readonly Edit[];
}
