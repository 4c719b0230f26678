import type { Acl } from '../../../zookeeper/wire/records.js';
import type { Lifetime } from './znode.js';

/** One change of the tree that has already been checked. Applied to any copy of the tree, it has the same result. */
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

/** A change that was made, with the ACLs that decide who is notified of it: those of the znode and of its parent. */
export interface MadeChange {
  readonly change: Change;
  readonly acl: readonly Acl[];
  readonly parentAcl: readonly Acl[];
}

/** Reverts a change. Changes are reverted latest first. */
export type Undo = () => void;
