import type { Acl } from '../../../zookeeper/wire/records.js';
import type { Lifetime } from './znode.js';

/** One change of the tree, already checked: it can be applied to every copy of the tree, and gives the same there. */
export type Change =
  | {
      readonly type: 'create';
      readonly path: string;
      readonly data: Buffer | null;
      readonly acl: readonly Acl[];
      readonly lifetime: Lifetime;
    }
  | { readonly type: 'delete'; readonly path: string }
  | { readonly type: 'setData'; readonly path: string; readonly data: Buffer | null; readonly version: number }
  | { readonly type: 'setAcl'; readonly path: string; readonly acl: readonly Acl[]; readonly aversion: number };

/** A change that was made, and the ACLs that decide who hears of it: of the znode, and of its parent. */
export interface MadeChange {
  readonly change: Change;
  readonly acl: readonly Acl[];
  readonly parentAcl: readonly Acl[];
}

/** Takes a change back; the latest one first. */
export type Undo = () => void;
