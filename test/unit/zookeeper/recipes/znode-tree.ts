import { ErrorCode, KeeperError } from '../../../../lib/zookeeper/session/requests.js';
import type { MultiOp, MultiResult, Stat } from '../../../../lib/zookeeper/session/requests.js';

interface Znode {
  readonly data: Buffer;
  readonly version: number;
  readonly czxid: bigint;
  readonly mzxid: bigint;
  /** The zxid of the last create or delete directly below. */
  readonly pzxid: bigint;
}

/** Persistent znodes as the servers keep them. A transaction is applied, or names the operation that failed. */
export class ZnodeTree {
  #znodes = new Map([['/', { data: Buffer.alloc(0), version: 0, czxid: 0n, mzxid: 0n, pzxid: 0n } as Znode]]);
  #time = 0;

  /** The zxid of the last transaction. */
  get zxid(): bigint {
    return BigInt(this.#time);
  }

  read(path: string): { data: Buffer; stat: Stat } {
    const znode = this.#znodes.get(path);
    if (!znode) throw new KeeperError(ErrorCode.noNode, path);
    return { data: znode.data, stat: this.#statOf(path, znode) };
  }

  /** Applies a transaction. Returns whether it was applied, and the results. */
  multi(ops: readonly MultiOp[]): { readonly isApplied: boolean; readonly results: MultiResult[] } {
    const before = new Map(this.#znodes);
    this.#time++;
    const errors = ops.map(() => ErrorCode.runtimeInconsistency as number);
    const results: MultiResult[] = [];
    for (const [place, op] of ops.entries()) {
      const error = this.#apply(op);
      errors[place] = error;
      if (error !== ErrorCode.ok) {
        this.#znodes = before;
        return { isApplied: false, results: errors.map((code, at) => ({ error: at < place ? ErrorCode.ok : code })) };
      }
      const znode = this.#znodes.get(op.path);
      results.push({ error, ...(op.type === 'setData' && znode && { stat: this.#statOf(op.path, znode) }) });
    }
    return { isApplied: true, results };
  }

  #apply(op: MultiOp): number {
    const znode = this.#znodes.get(op.path);
    if ('flags' in op) {
      if (!this.#znodes.has(parentOf(op.path))) return ErrorCode.noNode;
      if (znode) return ErrorCode.nodeExists;
      const { zxid } = this;
      this.#znodes.set(op.path, { data: op.data, version: 0, czxid: zxid, mzxid: zxid, pzxid: zxid });
      this.#changedBelow(parentOf(op.path));
      return ErrorCode.ok;
    }
    if (!znode) return ErrorCode.noNode;
    if (op.version !== undefined && op.version !== znode.version) return ErrorCode.badVersion;
    if (op.type === 'delete' && this.#childrenOf(op.path) > 0) return ErrorCode.notEmpty;
    if (op.type === 'delete') {
      this.#znodes.delete(op.path);
      this.#changedBelow(parentOf(op.path));
    }
    if (op.type === 'setData')
      this.#znodes.set(op.path, { ...znode, data: op.data, version: znode.version + 1, mzxid: this.zxid });
    return ErrorCode.ok;
  }

  #changedBelow(parent: string): void {
    const znode = this.#znodes.get(parent);
    if (znode) this.#znodes.set(parent, { ...znode, pzxid: this.zxid });
  }

  #childrenOf(path: string): number {
    return [...this.#znodes.keys()].filter((other) => other.startsWith(`${path}/`)).length;
  }

  #statOf(path: string, { version, data, czxid, mzxid, pzxid }: Znode): Stat {
    const time = BigInt(this.#time);
    const zxids = { czxid, mzxid, pzxid, ctime: time, mtime: time };
    const counts = { cversion: 0, aversion: 0, ephemeralOwner: 0n, dataLength: data.length };
    return { ...zxids, ...counts, version, numChildren: this.#childrenOf(path) };
  }
}

function parentOf(path: string): string {
  return path.slice(0, path.lastIndexOf('/')) || '/';
}
