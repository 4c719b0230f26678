import { onTestFinished } from 'vitest';
import { now } from '../../../../lib/async/clock.js';
import { deferred } from '../../../../lib/async/deferred.js';
import type { ZooKeeperClient } from '../../../../lib/zookeeper/client/zookeeper-client.js';
import type { WatchEvent } from '../../../../lib/zookeeper/client/watch-table.js';
import { ErrorCode, KeeperError } from '../../../../lib/zookeeper/session/requests.js';
import type {
  CreatedNode,
  MultiOp,
  NodeWatch,
  Requests,
  Stat,
  TransactionReply,
  Watch,
  WatchedNode,
  Watcher,
} from '../../../../lib/zookeeper/session/requests.js';
import { Session } from '../../../../lib/zookeeper/session/session.js';

interface Znode {
  readonly data: Buffer;
  readonly version: number;
  readonly czxid: bigint;
}

type Kind = 'data' | 'children';

/** Znodes that answer at once, with their watches. */
export class FakeZnodes implements Requests {
  readonly latestZxid = 0n;
  readonly znodes = new Map<string, Znode>();
  /** Hooks that are called before each request of that name, with its path, to change znodes meanwhile. */
  readonly before: Partial<Record<'read' | 'multi' | 'watchChildren' | 'watchData', (path: string) => void>> = {};
  readonly #watches = new Set<{ readonly kind: Kind; readonly path: string; readonly fire: (e: WatchEvent) => void }>();
  #zxid = 0n;

  get watched(): string[] {
    return [...this.#watches].map(({ kind, path }) => `${kind} ${path}`);
  }

  put(path: string, data: string | Buffer = ''): void {
    const old = this.znodes.get(path);
    const [version, czxid] = old ? [old.version + 1, old.czxid] : [0, ++this.#zxid];
    this.znodes.set(path, { data: Buffer.from(data), version, czxid });
    this.#fire('data', path, 'changed');
    if (!old) this.#fire('children', parentOf(path), 'children');
  }

  remove(path: string): void {
    this.znodes.delete(path);
    this.#fire('data', path, 'deleted');
    this.#fire('children', parentOf(path), 'children');
  }

  watchExistence(): Promise<never> {
    return Promise.reject(new Error('not asked here'));
  }

  createFirst(): Promise<never> {
    return Promise.reject(new Error('the directory is known'));
  }

  forget(): void {}

  knows(): boolean {
    return true;
  }

  async create({ path, data }: { readonly path: string; readonly data: Buffer }): Promise<CreatedNode> {
    if (this.znodes.has(path)) throw new KeeperError(ErrorCode.nodeExists, path);
    if (parentOf(path) !== '' && !this.znodes.has(parentOf(path))) throw new KeeperError(ErrorCode.noNode, path);
    this.put(path, data);
    return { path, czxid: this.#zxid };
  }

  async delete(path: string): Promise<void> {
    this.#found(path);
    this.remove(path);
  }

  async children(path: string): Promise<readonly string[]> {
    this.#found(path);
    const below = [...this.znodes.keys()].filter((other) => parentOf(other) === path);
    return below.map((other) => other.slice(path.length + 1));
  }

  async read(path: string): Promise<{ data: Buffer; stat: Stat }> {
    this.before.read?.(path);
    const { data, version, czxid } = this.#found(path);
    const zxids = { czxid, mzxid: czxid, pzxid: czxid, ctime: 0n, mtime: 0n };
    const counts = { cversion: 0, aversion: 0, ephemeralOwner: 1n, dataLength: data.length, numChildren: 0 };
    return { data, stat: { ...zxids, ...counts, version } };
  }

  async watch(path: string): Promise<NodeWatch> {
    return (await this.watchData(path)).watch;
  }

  async watchData(path: string): Promise<WatchedNode> {
    this.before.watchData?.(path);
    const seen = await this.read(path);
    return { ...seen, watch: this.#watch('data', path) };
  }

  async watchChildren(path: string): Promise<{ names: readonly string[]; watch: Watch }> {
    this.before.watchChildren?.(path);
    const names = await this.children(path);
    return { names, watch: this.#watch('children', path) };
  }

  async sync(): Promise<void> {}

  async multi(ops: readonly MultiOp[]): Promise<TransactionReply> {
    for (const op of ops) {
      this.before.multi?.(op.path);
      const error = this.#errorOf(op);
      if (error !== ErrorCode.ok) return { results: [{ error }], zxid: this.#zxid };
      if (op.type === 'delete') this.remove(op.path);
      else if ('data' in op) this.put(op.path, op.data);
    }
    return { results: ops.map(() => ({ error: ErrorCode.ok })), zxid: this.#zxid };
  }

  #errorOf(op: MultiOp): number {
    const znode = this.znodes.get(op.path);
    if ('flags' in op) return znode ? ErrorCode.nodeExists : ErrorCode.ok;
    if (!znode) return ErrorCode.noNode;
    return op.version === undefined || op.version === znode.version ? ErrorCode.ok : ErrorCode.badVersion;
  }

  #found(path: string): Znode {
    return this.znodes.get(path) ?? thrown(new KeeperError(ErrorCode.noNode, path));
  }

  #watch(kind: Kind, path: string): NodeWatch {
    const { promise: fired, resolve: fire } = deferred<WatchEvent>();
    const watch = { kind, path, fire };
    this.#watches.add(watch);
    const listen = (watcher: Watcher) => void fired.then((event) => watcher.happened(event));
    return { fired, listen, remove: () => void this.#watches.delete(watch) };
  }

  #fire(kind: Kind, path: string, event: WatchEvent): void {
    for (const watch of this.#watches) {
      if (watch.kind !== kind || watch.path !== path) continue;
      this.#watches.delete(watch);
      watch.fire(event);
    }
  }
}

function parentOf(path: string): string {
  return path.slice(0, path.lastIndexOf('/'));
}

function thrown(error: Error): never {
  throw error;
}

/** A session over these znodes that lasts as long as its test. */
export function sessionOn(znodes: FakeZnodes): Session {
  const proof = { sessionId: 1n, timeoutMs: 600_000, sentAt: now() };
  const session = new Session(znodes as unknown as ZooKeeperClient, proof);
  onTestFinished(() => session.ended('closed'));
  return session;
}
