import { now } from '../../../../lib/async/clock.js';
import { TableWatch, WatchTables } from '../../../../lib/zookeeper/client/watch-table.js';
import type { WatchEvent, WatchKind } from '../../../../lib/zookeeper/client/watch-table.js';
import type {
  CreatedNode,
  CreateRequest,
  MultiOp,
  Stat,
  TransactionReply,
  WatchedNode,
  ZooKeeperClient,
} from '../../../../lib/zookeeper/client/zookeeper-client.js';
import { contenderOwner } from '../../../../lib/zookeeper/recipes/contender-znode.js';
import { ErrorCode, KeeperError } from '../../../../lib/zookeeper/session/requests.js';
import type { NodeWatch, Watch } from '../../../../lib/zookeeper/session/requests.js';
import { Session } from '../../../../lib/zookeeper/session/session.js';

export const DIRECTORY = '/line';

/** The servers' side of one directory: its contenders and its watches. */
export class FakeLine {
  readonly znodes = new Map<string, bigint>();
  /** The labels in the znodes' data, by path, if any. */
  readonly labels = new Map<string, string>();
  readonly clients: FakeClient[] = [];
  #zxid = 0n;
  #number = -1;

  get names(): string[] {
    return [...this.znodes.keys()].map((path) => path.slice(DIRECTORY.length + 1));
  }

  /** Opens a new session. */
  connect(): FakeClient {
    const client = new FakeClient(this);
    this.clients.push(client);
    return client;
  }

  /** Creates a znode with the next number. */
  enter(prefix: string): CreatedNode {
    return this.make(`${prefix}${String(++this.#number).padStart(10, '0')}`);
  }

  /** Creates a znode with exactly this name. */
  make(name: string): CreatedNode {
    const path = `${DIRECTORY}/${name}`;
    this.znodes.set(path, ++this.#zxid);
    this.clients.forEach((client) => client.happened('children', DIRECTORY, 'children'));
    return { path, czxid: this.#zxid };
  }

  remove(path: string): boolean {
    if (!this.znodes.delete(path)) return false;
    this.#zxid++;
    this.clients.forEach((client) => client.happened('data', path, 'deleted'));
    this.clients.forEach((client) => client.happened('children', DIRECTORY, 'children'));
    return true;
  }
}

type Answer<T> = () => T;

/** One session over a slow link. Its requests and answers wait until a test lets them pass. */
export class FakeClient implements ZooKeeperClient {
  readonly session: Session;
  readonly unansweredSince = undefined;
  readonly lastError = undefined;
  readonly latestZxid = 0n;
  /** The number of requests of each kind. */
  readonly asked = { lists: 0, reads: 0, watches: 0 };
  /** The paths on which the servers keep a watch for this client. */
  readonly watched: Record<WatchKind, Set<string>> = { data: new Set(), children: new Set() };
  readonly #line: FakeLine;
  readonly #tables = new WatchTables();
  #writes: (() => void)[] = [];
  #others: (() => void)[] = [];
  #lists = new Map<string, Promise<readonly string[]>>();
  #toServers: (() => void)[] = [];
  #toClient: (() => void)[] = [];
  #unanswered = new Set<(error: unknown) => void>();
  #isUp = true;

  constructor(line: FakeLine) {
    this.#line = line;
    this.session = new Session(this, { sessionId: 1n, timeoutMs: 600_000, sentAt: now() });
  }

  /** The number of messages in flight in each direction. */
  get underWay(): { readonly toServers: number; readonly toClient: number } {
    return { toServers: this.#toServers.length, toClient: this.#toClient.length };
  }

  get isUp(): boolean {
    return this.#isUp;
  }

  /** The servers read the next request. */
  passUp(): void {
    this.#toServers.shift()?.();
  }

  /** The client reads the next answer or event. */
  passDown(): void {
    this.#toClient.shift()?.();
  }

  /** Passes all messages in flight, and those that result from them. */
  async passAll(): Promise<void> {
    for (;;) {
      await new Promise(setImmediate);
      if (this.#toServers.length + this.#toClient.length === 0) return;
      while (this.#toServers.length > 0) this.passUp();
      while (this.#toClient.length > 0) this.passDown();
    }
  }

  /** Ends the connection. Messages that were not read by then are lost. */
  disconnect(): void {
    if (!this.#isUp) return;
    this.#isUp = false;
    this.#toServers = [];
    this.#toClient = [];
    Object.values(this.watched).forEach((paths) => paths.clear());
    const lost = [...this.#unanswered];
    this.#unanswered.clear();
    this.session.disconnected();
    lost.forEach((reject) => reject(new KeeperError(ErrorCode.connectionLoss)));
  }

  /** Reconnects the session. The watches are set again, and missed events arrive in no particular order. */
  reconnect(): void {
    if (this.#isUp) return;
    this.#isUp = true;
    const missed: (() => void)[] = [];
    for (const path of this.#tables.data.paths) {
      if (this.#line.znodes.has(path)) this.watched.data.add(path);
      else missed.push(() => this.#tables.fire(path, 'deleted'));
    }
    for (const path of this.#tables.children.paths) missed.push(() => this.#tables.fire(path, 'children'));
    this.#toClient.push(...missed.reverse());
    this.session.connected({ sessionId: 1n, timeoutMs: 600_000, sentAt: now() });
  }

  /** Sends the event to the client if it watches the path. */
  happened(kind: WatchKind, path: string, event: WatchEvent): void {
    if (this.watched[kind].delete(path)) this.#toClient.push(() => this.#tables.fire(path, event));
  }

  create({ path, data }: CreateRequest): Promise<CreatedNode> {
    return this.#ask(this.#writes, () => {
      const created = this.#line.enter(path.slice(DIRECTORY.length + 1));
      const { label } = contenderOwner(data);
      if (label !== undefined) this.#line.labels.set(created.path, label);
      return created;
    });
  }

  createFirst(): Promise<never> {
    return Promise.reject(new Error('the directory is known'));
  }

  forget(): void {}

  knows(): boolean {
    return true;
  }

  delete(path: string): Promise<void> {
    return this.#ask(this.#writes, () => {
      if (!this.#line.remove(path)) throw new KeeperError(ErrorCode.noNode, path);
    });
  }

  children(path: string): Promise<readonly string[]> {
    const asked = this.#lists.get(path) ?? this.#list();
    this.#lists.set(path, asked);
    return asked;
  }

  read(path: string): Promise<{ data: Buffer; stat: Stat }> {
    this.asked.reads++;
    return this.#ask(this.#others, () => ({ data: Buffer.alloc(0), stat: this.#statOf(path) }));
  }

  watch(path: string): Promise<NodeWatch> {
    this.asked.watches++;
    return this.#watching('data', path, () => void this.#statOf(path)).then(({ watch }) => watch);
  }

  watchData(path: string): Promise<WatchedNode> {
    this.asked.watches++;
    const looked = this.#watching('data', path, () => this.#statOf(path));
    return looked.then(({ value: stat, watch }) => ({ data: Buffer.alloc(0), stat, watch }));
  }

  watchExistence(): Promise<never> {
    return Promise.reject(new Error('not asked in a line'));
  }

  watchChildren(path: string): Promise<{ names: readonly string[]; watch: Watch }> {
    return this.#watching('children', path, () => this.#line.names).then(({ value: names, watch }) => ({
      names,
      watch,
    }));
  }

  sync(): Promise<void> {
    return this.#ask(this.#others, () => {});
  }

  multi(ops: readonly MultiOp[]): Promise<TransactionReply> {
    const resultOf = ({ path }: MultiOp) => ({
      error: this.#line.znodes.has(path) ? ErrorCode.ok : ErrorCode.noNode,
    });
    return this.#ask(this.#others, () => ({ results: ops.map(resultOf), zxid: 1n }));
  }

  connect(): void {}
  ping(): void {}
  dropLink(): void {}
  async close(): Promise<void> {}

  #list(): Promise<readonly string[]> {
    this.asked.lists++;
    return this.#ask(this.#others, () => this.#line.names);
  }

  #statOf(path: string): Stat {
    const czxid = this.#line.znodes.get(path);
    if (czxid === undefined) throw new KeeperError(ErrorCode.noNode, path);
    const [zxids, times] = [
      { czxid, mzxid: czxid, pzxid: czxid },
      { ctime: 0n, mtime: 0n },
    ];
    const counts = { version: 0, cversion: 0, aversion: 0, ephemeralOwner: 1n, dataLength: 0, numChildren: 0 };
    return { ...zxids, ...times, ...counts };
  }

  async #watching<T>(kind: WatchKind, path: string, look: Answer<T>): Promise<{ value: T; watch: NodeWatch }> {
    const watch = new TableWatch(this.#tables, kind, path, () => this.#unwatch(kind, path));
    const looked = this.#ask(this.#others, () => {
      const value = look();
      this.watched[kind].add(path);
      return value;
    });
    try {
      return { value: await looked, watch };
    } catch (error) {
      watch.forget();
      throw error;
    }
  }

  #unwatch(kind: WatchKind, path: string): void {
    this.#ask(this.#others, () => void this.watched[kind].delete(path)).catch(() => {});
  }

  /** Queues requests: those of one turn are sent at its end, creates and deletes first. */
  #ask<T>(requests: (() => void)[], answer: Answer<T>): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      if (!this.#isUp) return reject(new KeeperError(ErrorCode.connectionLoss));
      if (this.#writes.length + this.#others.length === 0) process.nextTick(() => this.#flush());
      this.#unanswered.add(reject);
      requests.push(() => {
        const outcome = attempt(answer);
        this.#toClient.push(() => {
          this.#unanswered.delete(reject);
          this.session.answered({ sentAt: now(), receivedAt: now(), isQuorum: true });
          if ('error' in outcome) reject(outcome.error);
          else resolve(outcome.value);
        });
      });
    });
  }

  #flush(): void {
    const all = [...this.#writes.splice(0), ...this.#others.splice(0)];
    this.#lists.clear();
    if (this.#isUp) this.#toServers.push(...all);
  }
}

function attempt<T>(answer: Answer<T>): { readonly value: T } | { readonly error: unknown } {
  try {
    return { value: answer() };
  } catch (error) {
    return { error };
  }
}
