import { NEVER } from '../../../../lib/async/abort.js';
import type { RecordChange, RecordWrite } from '../../../../lib/contract/record-store.js';
import { RecordWriting } from '../../../../lib/zookeeper/records/record-write.js';
import type { WriteSession } from '../../../../lib/zookeeper/records/record-write.js';
import { ErrorCode, isConnectionLoss, KeeperError } from '../../../../lib/zookeeper/session/requests.js';
import type { MultiOp, Requests } from '../../../../lib/zookeeper/session/requests.js';
import { ZnodeTree } from './znode-tree.js';

/** The fate of one transaction, and the writes of other sessions before the next request. */
export interface Event {
  readonly fate: 'answered' | 'lost on the way' | 'reply lost';
  readonly others: readonly RecordChange[];
}

/** A session over a tree of znodes. Other sessions write at any time, and connections are lost at any time. */
export class ScriptedSession implements WriteSession {
  readonly tree = new ZnodeTree();
  readonly requests: { -readonly [Name in keyof Requests]: Requests[Name] };
  /** The number of applied transactions of the write that change something permanently. */
  applied = 0;
  #events: Event[] = [];
  #isScripted = false;
  #latestZxid = 0n;

  constructor() {
    const notAsked = () => Promise.reject(new Error('no record needs that'));
    const latestZxid = () => this.#latestZxid;
    this.requests = {
      get latestZxid() {
        return latestZxid();
      },
      create: notAsked,
      createFirst: notAsked,
      knows: () => true,
      forget() {},
      delete: notAsked,
      children: notAsked,
      watch: notAsked,
      watchData: notAsked,
      watchExistence: notAsked,
      watchChildren: notAsked,
      sync: async () => this.#answered(),
      read: async (path) => {
        this.#answered();
        return this.tree.read(path);
      },
      multi: (ops) => this.#multi(ops),
    };
  }

  async whenConnected(): Promise<void> {}

  async persistently<T>(request: () => Promise<T>): Promise<T> {
    for (;;) {
      try {
        return await request();
      } catch (error) {
        if (!isConnectionLoss(error)) throw error;
      }
    }
  }

  play(events: readonly Event[]): void {
    this.#events = [...events];
    this.#isScripted = true;
  }

  async #multi(ops: readonly MultiOp[]) {
    const { fate, others } = this.#events.shift() ?? { fate: 'answered', others: [] };
    const isOurs = this.#isScripted;
    const reply = fate === 'lost on the way' ? undefined : this.tree.multi(ops);
    if (isOurs && reply?.isApplied && leavesSomething(ops)) this.applied++;
    const isAnswered = fate === 'answered' && reply !== undefined;
    if (isAnswered) this.#answered();
    await this.#meanwhile(others);
    this.#isScripted = isOurs;
    if (!isAnswered) throw new KeeperError(ErrorCode.connectionLoss);
    return { results: reply.results, zxid: 0n };
  }

  /** Applies the writes of other sessions, which this session does not see in its latest zxid. */
  async #meanwhile(others: readonly RecordChange[]): Promise<void> {
    const latestZxid = this.#latestZxid;
    this.#isScripted = false;
    for (const other of others) await write(this, [other]);
    this.#latestZxid = latestZxid;
  }

  #answered(): void {
    this.#latestZxid = this.tree.zxid;
  }
}

/**
 * Whether the operations change something permanently. A check of a missing znode is a create that is deleted again.
 */
function leavesSomething(ops: readonly MultiOp[]): boolean {
  const created = new Set(ops.filter(({ type }) => type.startsWith('create')).map(({ path }) => path));
  return ops.some((op) => {
    if (op.type === 'delete') return !created.has(op.path);
    return op.type === 'setData' || (op.type === 'create2' && op.data.length > 0);
  });
}

export function write(session: WriteSession, changes: readonly RecordChange[]): Promise<RecordWrite> {
  return new RecordWriting(
    changes.map((change) => ({ ...change, path: `/r/${change.name}` })),
    [],
  ).on(session, NEVER);
}

/** A session over these records. */
export async function opened(records: readonly RecordChange[]): Promise<ScriptedSession> {
  const session = new ScriptedSession();
  for (const one of records) await write(session, [one]);
  return session;
}
