import type { AclEntry } from '../wire/fields.js';
import type { KnownWatches } from '../wire/watch-requests.js';

/** One operation of one client. It is plain data, so that it can be printed and shrunk. */
export type Operation = { readonly by: number } & (Asked | ToTheConnection);

/** A request to the server. */
export type Asked = Single | { readonly do: 'multi' | 'multiRead'; readonly ops: readonly Single[] };

export type Single =
  | {
      readonly do: 'create' | 'create2' | 'createContainer' | 'createTtl';
      readonly path: string;
      readonly data: string;
      readonly flags: number;
      readonly acl: readonly AclEntry[];
    }
  | { readonly do: 'delete' | 'check'; readonly path: string; readonly version: number }
  | { readonly do: 'setData'; readonly path: string; readonly data: string; readonly version: number }
  | {
      readonly do: 'setAcl';
      readonly path: string;
      readonly acl: readonly AclEntry[];
      readonly version: number;
    }
  | {
      readonly do: 'exists' | 'getData' | 'getChildren' | 'getChildren2';
      readonly path: string;
      readonly watch: boolean;
    }
  | { readonly do: 'getAcl' | 'sync' | 'getEphemerals' | 'getAllChildrenNumber'; readonly path: string }
  | { readonly do: 'addWatch' | 'removeWatches' | 'checkWatches'; readonly path: string; readonly kind: number }
  | { readonly do: 'auth'; readonly password: string }
  | { readonly do: 'whoAmI' | 'ping' };

export type ToTheConnection =
  /** Closes the session, and opens another one. */
  | { readonly do: 'begin again' }
  /** Loses the connection, reconnects, and registers its watches as of `ago` transactions ago. */
  | {
      readonly do: 'come back';
      readonly how: 'fin' | 'reset';
      readonly ago: number;
      readonly known: KnownWatches;
      readonly knowsPersistent: boolean;
    }
  /** Moves the session to a new connection while the old one is still open. */
  | { readonly do: 'move' };

export const CLIENTS = ['a', 'b', 'c'] as const;
