import { join } from 'node:path';
import type { Plugin } from 'rolldown';
import type { Edit } from '../../support/edit.js';
import { edited } from '../../support/edit.js';
import { COMPILED } from '../places.js';

/**
 * Edits that are made in the library while it is bundled. Its files stay unchanged, because others read them at the
 * same time.
 */
export class Planting {
  readonly #edits: readonly Edit[];
  readonly #made = new Set<Edit>();
  readonly plugin: Plugin = {
    name: 'planting',
    transform: { filter: { id: /\.js$/ }, handler: (code, id) => this.#transform(code, id) },
  };

  constructor(edits: readonly Edit[]) {
    this.#edits = edits;
  }

  /** @throws Error when a file was not bundled: a defect that breaks nothing proves nothing */
  checkAllMade(): void {
    const left = this.#edits.find((edit) => !this.#made.has(edit));
    if (left) throw new Error(`lib/${left.file} is in no bundle: nothing was planted in it`);
  }

  #transform(code: string, id: string): string | undefined {
    const edits = this.#edits.filter(({ file }) => id === join(COMPILED, 'lib', file));
    if (edits.length === 0) return undefined;
    for (const edit of edits) this.#made.add(edit);
    return edits.reduce(edited, code);
  }
}
