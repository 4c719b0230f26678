import type { Acl, Stat } from '../../../zookeeper/wire/records.js';

/**
 * The lifetime of a znode: unlimited, or until the end of its session, the deletion of its last child, or a certain
 * age.
 */
export type Lifetime =
  | { readonly kind: 'persistent' | 'container' }
  | { readonly kind: 'ephemeral'; readonly owner: bigint }
  | { readonly kind: 'ttl'; readonly ttlMs: number };

export const PERSISTENT: Lifetime = { kind: 'persistent' };

export interface Znode {
  data: Buffer | null;
  acl: readonly Acl[];
  readonly lifetime: Lifetime;
  readonly czxid: bigint;
  readonly ctimeMs: number;
  mzxid: bigint;
  mtimeMs: number;
  pzxid: bigint;
  version: number;
  aversion: number;
  /** The number of children of any kind that were created here. The next sequential child gets it. */
  creates: number;
  readonly children: Set<string>;
}

/** The time and the transaction of a change. */
export interface Moment {
  readonly zxid: bigint;
  readonly timeMs: number;
}

export function newZnode(
  data: Buffer | null,
  acl: readonly Acl[],
  lifetime: Lifetime,
  { zxid, timeMs }: Moment,
): Znode {
  const [czxid, mzxid, pzxid] = [zxid, zxid, zxid];
  const counts = { version: 0, aversion: 0, creates: 0 };
  return { data, acl, lifetime, czxid, mzxid, pzxid, ctimeMs: timeMs, mtimeMs: timeMs, ...counts, children: new Set() };
}

export function ownerOf(znode: Znode): bigint {
  return znode.lifetime.kind === 'ephemeral' ? znode.lifetime.owner : 0n;
}

/**
 * Returns the stat that clients receive. `cversion` counts creates and deletes of children, and is computed from
 * `creates` and the number of children.
 */
export function statOf(znode: Znode): Stat {
  const numChildren = znode.children.size;
  return {
    czxid: znode.czxid,
    mzxid: znode.mzxid,
    ctime: BigInt(znode.ctimeMs),
    mtime: BigInt(znode.mtimeMs),
    version: znode.version,
    cversion: (2 * znode.creates - numChildren) | 0,
    aversion: znode.aversion,
    ephemeralOwner: ownerOf(znode),
    dataLength: znode.data?.length ?? 0,
    numChildren,
    pzxid: znode.pzxid,
  };
}
