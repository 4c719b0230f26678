import { randomUUID } from 'node:crypto';
import type { Cell, CellChange, Cells, CellWrite } from '../../contract/coordination-backend.js';
import { checkKey } from '../../contract/key.js';
import { inDoubt } from '../../sessions/backend-sessions.js';
import type { Call } from '../../sessions/backend-sessions.js';
import type { EtcdSessions } from '../session/etcd-sessions.js';
import { inSession } from '../session/in-session.js';
import { KeyWriting, readKeys } from '../session/key-writing.js';
import type { KeyChange } from '../session/key-writing.js';
import { watchUntil } from '../session/watches.js';

const ID_BYTES = 16;

/** Shared values. Each is a key: the id of its write, then its bytes. */
export class EtcdCells implements Cells {
  readonly #sessions: EtcdSessions;
  readonly #kind: string;

  /** @param kind the kind of value, which is part of the names of the keys */
  constructor(sessions: EtcdSessions, kind: string) {
    this.#sessions = sessions;
    this.#kind = kind;
  }

  read(key: string, signal: AbortSignal, name = key): Promise<Cell | undefined> {
    return this.#read(key, { key: name, wait: false, signal });
  }

  async #read(key: string, call: Call): Promise<Cell | undefined> {
    const cell = this.#of(key);
    return inSession(this.#sessions, call, async (session, limit) => {
      const [found] = await readKeys(session, [cell], limit);
      return (
        found && {
          data: Buffer.from(found.value.subarray(ID_BYTES)),
          version: found.version - 1,
          revision: BigInt(found.modified),
        }
      );
    });
  }

  async write(key: string, change: CellChange, signal: AbortSignal, name = key): Promise<CellWrite> {
    const id = Buffer.from(randomUUID().replaceAll('-', ''), 'hex');
    const writing = new KeyWriting([keyChangeOf(change, this.#of(key), id)]);
    const write = await inSession(this.#sessions, { key: name, wait: false, signal }, (session, limit) =>
      writing.on(session, limit),
    ).catch((error: unknown) => {
      throw writing.isInDoubt ? inDoubt(error, 'whether the write was applied', name) : error;
    });
    if ('conflict' in write) return { isApplied: false };
    return { isApplied: true, version: change.data === undefined ? undefined : (write.found[0]?.version ?? 0) };
  }

  async next(key: string, seen: Cell | undefined, signal: AbortSignal, name = key): Promise<Cell | undefined> {
    return this.until(key, { key: name, wait: true, signal }, (found) => found?.revision !== seen?.revision);
  }

  /** Resolves with the cell once it is as wanted. @param call how long the first look waits for a session */
  async until(
    key: string,
    call: Call & { readonly signal: AbortSignal },
    isWanted: (found: Cell | undefined) => boolean,
  ): Promise<Cell | undefined> {
    const { watches, lookEveryMs } = this.#sessions;
    let look = call;
    return watchUntil(watches, { key: this.#of(key) }, call.signal, async () => {
      const found = await this.#read(key, look);
      look = { ...call, isContinued: true };
      return isWanted(found) ? { found } : { againInMs: lookEveryMs };
    });
  }

  #of(key: string): string {
    checkKey(key);
    return this.#sessions.keys.of(this.#kind, key);
  }
}

function keyChangeOf({ data, ifVersion }: CellChange, key: string, id: Buffer): KeyChange {
  return {
    key,
    ifVersion,
    valueFor: () => data && Buffer.concat([id, data]),
    isOwn: ({ value }) => value.subarray(0, ID_BYTES).equals(id),
  };
}
