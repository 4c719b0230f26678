import type { Edit } from '../../support/edit.js';

/** A fault that is planted in the embedded server, and the group of scenarios that has to show it. */
export interface Defect {
  readonly name: string;
  /** The name of a group in `test/conformance/scenarios`. */
  readonly group: string;
  readonly edits: readonly Edit[];
}

/** A defect that is a single edit below lib/testing/embedded. */
export function defect(name: string, group: string, file: string, replace: string, by: string): Defect {
  return { name, group, edits: [{ file: `testing/embedded/${file}.js`, replace, by }] };
}
