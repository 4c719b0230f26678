import type { Change, MadeChange, Undo } from '../tree/change.js';
import type { DataTree } from '../tree/data-tree.js';
import { parentOf } from '../tree/znode-path.js';
import type { Moment } from '../tree/znode.js';

/** The changes of one write. Empty when the write was refused. */
export interface Transaction {
  readonly moment: Moment;
  readonly changes: readonly MadeChange[];
  /** The session that this transaction has ended. */
  readonly closedSession: bigint | undefined;
}

/** A transaction that is still being assembled. */
export class Draft implements Transaction {
  readonly tree: DataTree;
  readonly moment: Moment;
  closedSession: bigint | undefined;
  #changes: MadeChange[] = [];
  #undos: Undo[] = [];

  constructor(tree: DataTree, moment: Moment) {
    this.tree = tree;
    this.moment = moment;
  }

  get changes(): readonly MadeChange[] {
    return this.#changes;
  }

  apply(change: Change): void {
    const { acl } = change.type === 'create' ? change : this.tree.demand(change.path);
    const parentAcl = this.tree.demand(parentOf(change.path)).acl;
    this.#undos.push(this.tree.apply(change, this.moment));
    this.#changes.push({ change, acl, parentAcl });
  }

  undo(): void {
    for (const undo of this.#undos.reverse()) undo();
    this.#undos = [];
    this.#changes = [];
  }
}
