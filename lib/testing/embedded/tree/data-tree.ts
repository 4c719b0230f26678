import { Refusal } from '../wire/refusal.js';
import type { Change, Undo } from './change.js';
import { initialZnodes } from './initial-znodes.js';
import { LifetimeIndex } from './lifetime-index.js';
import { nameOf, parentOf } from './znode-path.js';
import { newZnode } from './znode.js';
import type { Moment, Znode } from './znode.js';

type ChangeOf<Type extends Change['type']> = Extract<Change, { readonly type: Type }>;

/** The znodes, by path. */
export class DataTree {
  readonly index = new LifetimeIndex();
  readonly #znodes: Map<string, Znode>;

  constructor(znodes: Map<string, Znode> = initialZnodes()) {
    this.#znodes = znodes;
    for (const [path, znode] of znodes) this.index.add(path, znode.lifetime);
  }

  /** Returns a copy of the tree that shares no mutable state with it. */
  copy(): DataTree {
    const copies = new Map<Znode, Znode>();
    const copyOf = (znode: Znode): Znode => {
      const copy = copies.get(znode) ?? { ...znode, children: new Set(znode.children) };
      copies.set(znode, copy);
      return copy;
    };
    return new DataTree(new Map([...this.#znodes].map(([path, znode]) => [path, copyOf(znode)])));
  }

  get(path: string): Znode | undefined {
    return this.#znodes.get(path);
  }

  /** @throws Refusal noNode */
  demand(path: string): Znode {
    const znode = this.#znodes.get(path);
    if (!znode) throw new Refusal('noNode');
    return znode;
  }

  /** All paths. The root is listed as '/' only. */
  *paths(): Generator<string> {
    for (const path of this.#znodes.keys()) if (path !== '') yield path;
  }

  /** The number of znodes as ZooKeeper counts them: the root twice, under both of its names. */
  get count(): number {
    return this.#znodes.size;
  }

  apply(change: Change, moment: Moment): Undo {
    switch (change.type) {
      case 'create':
        return this.#create(change, moment);
      case 'delete':
        return this.#delete(change.path, moment);
      case 'setData':
        return this.#setData(change, moment);
      case 'setAcl':
        return this.#setAcl(change);
    }
  }

  #create({ path, data, acl, lifetime }: ChangeOf<'create'>, moment: Moment): Undo {
    const parent = this.demand(parentOf(path));
    const { creates, pzxid } = parent;
    const next = (creates + 1) | 0;
    // At the end of its range the counter stops, and so does pzxid: since 3.6 a server accepts no smaller counter.
    if (next > creates) [parent.creates, parent.pzxid] = [next, moment.zxid];
    parent.children.add(nameOf(path));
    this.#znodes.set(path, newZnode(data, acl, lifetime, moment));
    this.index.add(path, lifetime);
    return () => {
      [parent.creates, parent.pzxid] = [creates, pzxid];
      parent.children.delete(nameOf(path));
      this.#znodes.delete(path);
      this.index.remove(path, lifetime);
    };
  }

  #delete(path: string, { zxid }: Moment): Undo {
    const parent = this.demand(parentOf(path));
    const znode = this.demand(path);
    const { pzxid } = parent;
    parent.pzxid = zxid;
    parent.children.delete(nameOf(path));
    this.#znodes.delete(path);
    this.index.remove(path, znode.lifetime);
    return () => {
      parent.pzxid = pzxid;
      parent.children.add(nameOf(path));
      this.#znodes.set(path, znode);
      this.index.add(path, znode.lifetime);
    };
  }

  #setData({ path, data, version }: ChangeOf<'setData'>, { zxid, timeMs }: Moment): Undo {
    const znode = this.demand(path);
    const before = { data: znode.data, version: znode.version, mzxid: znode.mzxid, mtimeMs: znode.mtimeMs };
    Object.assign(znode, { data, version, mzxid: zxid, mtimeMs: timeMs });
    return () => Object.assign(znode, before);
  }

  #setAcl({ path, acl, aversion }: ChangeOf<'setAcl'>): Undo {
    const znode = this.demand(path);
    const before = { acl: znode.acl, aversion: znode.aversion };
    Object.assign(znode, { acl, aversion });
    return () => Object.assign(znode, before);
  }
}
