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
  | {
      readonly type: 'delete';
      readonly path: string;
      /** Of what is deleted: who may hear of it. */
      readonly acl: readonly Acl[];
    }
  | { readonly type: 'setData'; readonly path: string; readonly data: Buffer | null; readonly version: number }
  | { readonly type: 'setAcl'; readonly path: string; readonly acl: readonly Acl[]; readonly aversion: number };

/** Takes a change back; the latest one first. */
export type Undo = () => void;
