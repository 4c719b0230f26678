import type { Edit } from '../../support/edit.js';

/** A fault put into the embedded server on purpose, and the scenarios that have to show it. */
export interface Defect {
  readonly name: string;
  /** Of `test/conformance/scenarios`. */
  readonly group: string;
  readonly edits: readonly Edit[];
}

/** One that is a single edit below lib/testing/embedded. */
export function defect(name: string, group: string, file: string, replace: string, by: string): Defect {
  return { name, group, edits: [{ file: `testing/embedded/${file}.js`, replace, by }] };
}
