import type { Acl, Stat } from '../../../zookeeper/wire/records.js';

/** Who ends the life of a znode: nobody, its session, its last child, its age. */
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
  /** How many children were created here, of any kind: the number of the next sequential one. */
  creates: number;
  readonly children: Set<string>;
}

/** When and by which transaction. */
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

/** What clients are told. `cversion` counts creates and deletes of children, which follows from what is kept. */
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
