import type { Change, Undo } from '../tree/change.js';
import type { DataTree } from '../tree/data-tree.js';
import type { Moment } from '../tree/znode.js';

/** What one write has changed; nothing, when it was refused. */
export interface Transaction {
  readonly moment: Moment;
  readonly changes: readonly Change[];
}

/** A transaction in the making. */
export class Draft implements Transaction {
  readonly tree: DataTree;
  readonly moment: Moment;
  #changes: Change[] = [];
  #undos: Undo[] = [];

  constructor(tree: DataTree, moment: Moment) {
    this.tree = tree;
    this.moment = moment;
  }

  get changes(): readonly Change[] {
    return this.#changes;
  }

  apply(change: Change): void {
    this.#undos.push(this.tree.apply(change, this.moment));
    this.#changes.push(change);
  }

  undo(): void {
    for (const undo of this.#undos.reverse()) undo();
    this.#undos = [];
    this.#changes = [];
  }
}
