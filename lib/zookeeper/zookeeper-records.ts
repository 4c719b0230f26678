import { checkChanges } from '../contract/record-store.js';
import type { RecordChange, RecordStore, RecordWrite, StoredRecord } from '../contract/record-store.js';
import type { ServingSessions } from '../sessions/backend-sessions.js';
import { inDoubt } from '../sessions/backend-sessions.js';
import { inSession } from './session-retry.js';
import { lookAtOnce, lookAt } from './records/record-node.js';
import type { Sight } from './records/record-node.js';
import { RecordWriting } from './records/record-write.js';
import type { Session } from './session/session.js';
import { unlessMissing } from './session/watch.js';
import { recordName, recordPath } from './recipes/znode-path.js';
import type { ResolvedZooKeeperOptions } from './zookeeper.options.js';

type Ask<T> = (session: AskedSession, signal: AbortSignal) => Promise<T>;
type AskedSession = Pick<Session, 'requests' | 'whenConnected' | 'persistently'>;

type RecordOptions = Pick<ResolvedZooKeeperOptions, 'acl' | 'basePath' | 'connect'>;

/** Records as persistent znodes. A request is repeated on the next session when its session ends. */
export class ZooKeeperRecords implements RecordStore {
  readonly #sessions: ServingSessions<AskedSession>;
  readonly #options: RecordOptions;
  readonly #caughtUp = new WeakSet<AskedSession>();

  constructor(sessions: ServingSessions<AskedSession>, options: RecordOptions) {
    this.#sessions = sessions;
    this.#options = options;
  }

  async read(name: string): Promise<StoredRecord | undefined> {
    const path = this.#pathOf(name);
    const sight = await this.#ask(name, (session, signal) =>
      session.persistently(() => lookAt(session.requests, path), signal),
    );
    return stored(name, sight);
  }

  async readAll(names: readonly string[]): Promise<readonly (StoredRecord | undefined)[]> {
    const paths = names.map((name) => this.#pathOf(name));
    const sights = await this.#ask(names[0] ?? '', (session, signal) => lookAtOnce(session, paths, signal));
    return names.map((name, place) => stored(name, sights[place]));
  }

  async list(name: string): Promise<readonly string[]> {
    const path = this.#pathOf(name);
    const children = await this.#ask(name, (session, signal) =>
      unlessMissing(
        session.persistently(() => session.requests.children(path), signal),
        [],
      ),
    );
    return children.map(recordName);
  }

  async write(changes: readonly RecordChange[]): Promise<RecordWrite> {
    checkChanges(changes);
    const placed = changes.map((change) => ({ ...change, path: this.#pathOf(change.name) }));
    const writing = new RecordWriting(placed, this.#options.acl);
    const name = changes[0]?.name ?? '';
    return this.#ask(name, (session, signal) => writing.on(session, signal)).catch((error: unknown) => {
      throw writing.isInDoubt ? inDoubt(error, `whether "${name}" was written`, name) : error;
    });
  }

  #pathOf(name: string): string {
    return this.#options.connect.chroot + recordPath(name, this.#options.basePath);
  }

  async #ask<T>(name: string, ask: Ask<T>): Promise<T> {
    return inSession(this.#sessions, { key: name, wait: false }, async (session: AskedSession, signal) => {
      await this.#catchUp(session, signal);
      return ask(session, signal);
    });
  }

  /** Syncs once per session. The server of a new session may be behind what an earlier session has read and written. */
  async #catchUp(session: AskedSession, signal: AbortSignal): Promise<void> {
    if (this.#caughtUp.has(session)) return;
    await session.persistently(() => session.requests.sync('/'), signal);
    this.#caughtUp.add(session);
  }
}

function stored(name: string, sight: Sight | undefined): StoredRecord | undefined {
  const { record } = sight ?? {};
  return record && { name, value: record.value, version: record.version, writtenAt: record.writtenAt };
}
