import { randomUUID } from 'node:crypto';
import type { Cell, CellChange, Cells, CellWrite } from '../../contract/coordination-backend.js';
import { checkKey } from '../../contract/key.js';
import type { Doubt, EtcdSession } from '../session/etcd-session.js';
import type { EtcdSessions } from '../session/etcd-sessions.js';
import { inSession } from '../session/in-session.js';
import { unknownResult } from '../session/unknown-result.js';
import { watchUntil } from '../session/watches.js';
import type { KeyValue } from '../wire/responses.js';

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

  async read(key: string, signal: AbortSignal, name = key): Promise<Cell | undefined> {
    const cell = this.#of(key);
    return inSession(this.#sessions, { key: name, wait: false, signal }, async (session, limit) => {
      const found = await find(session, cell, limit);
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
    const doubt = { isSo: false };
    const cell = this.#of(key);
    return inSession(this.#sessions, { key: name, wait: false, signal }, (session, limit) =>
      writeIn(session, { cell, name, id, doubt, signal: limit }, change),
    );
  }

  async next(key: string, seen: Cell | undefined, signal: AbortSignal, name = key): Promise<Cell | undefined> {
    const { watches, lookEveryMs } = this.#sessions;
    return watchUntil(watches, { key: this.#of(key) }, signal, async () => {
      const found = await this.read(key, signal, name);
      return found?.revision === seen?.revision ? { againInMs: lookEveryMs } : { found };
    });
  }

  #of(key: string): string {
    checkKey(key);
    return this.#sessions.keys.of(this.#kind, key);
  }
}

interface Writing {
  readonly cell: string;
  readonly name: string;
  readonly id: Buffer;
  readonly doubt: Doubt;
  readonly signal: AbortSignal;
}

/** Writes on the condition that nothing has changed since it was read. */
async function writeIn(
  session: EtcdSession,
  { cell, name, id, doubt, signal }: Writing,
  { data, ifVersion }: CellChange,
): Promise<CellWrite> {
  for (;;) {
    const found = await find(session, cell, signal);
    if (doubt.isSo && found?.value.subarray(0, ID_BYTES).equals(id)) {
      return { isApplied: true, version: found.version - 1 };
    }
    const isMet =
      ifVersion === undefined || (ifVersion === 'absent' ? found === undefined : found?.version === ifVersion + 1);
    // The value may be younger than the write whose answer was lost. A removal can be made again.
    if (doubt.isSo && (!isMet || (ifVersion === undefined && data !== undefined))) {
      throw unknownResult(name, 'the write was applied');
    }
    if (!isMet) return { isApplied: false };
    const answer = await session.change(
      {
        about: [cell],
        compare: [{ key: cell, property: 'modified', is: 'equal', than: found?.modified ?? 0 }],
        success: [
          data === undefined
            ? { kind: 'delete', key: cell }
            : { kind: 'put', key: cell, value: Buffer.concat([id, data]) },
        ],
        failure: [],
      },
      { signal, doubt },
    );
    if (answer.isMet) return { isApplied: true, version: data === undefined ? undefined : (found?.version ?? 0) };
  }
}

async function find(session: EtcdSession, key: string, signal: AbortSignal): Promise<KeyValue | undefined> {
  return (await session.read([{ kind: 'read', key }], signal)).results[0]?.found[0];
}
