import { randomUUID } from 'node:crypto';
import type { Cell, CellChange, Cells, CellWrite } from '../../contract/coordination-backend.js';
import { checkKey } from '../../contract/key.js';
import { inDoubt } from '../../sessions/backend-sessions.js';
import type { Call } from '../../sessions/backend-sessions.js';
import { READ_CELL, WRITE_CELL } from '../scripts/coordination-scripts.js';
import { inSession } from '../session/in-session.js';
import type { RedisShards } from '../session/redis-shards.js';
import { watchUntil } from '../session/topics.js';

/** Shared values. Each is a hash, and its key is also the channel on which its changes are announced. */
export class RedisCells implements Cells {
  readonly #shards: RedisShards;
  readonly #kind: string;

  /** @param kind the kind of value, which is part of the names of the keys */
  constructor(shards: RedisShards, kind: string) {
    this.#shards = shards;
    this.#kind = kind;
  }

  read(key: string, signal: AbortSignal, name = key): Promise<Cell | undefined> {
    return this.#read(key, { key: name, wait: false, signal });
  }

  #read(key: string, call: Call): Promise<Cell | undefined> {
    const cell = this.#of(key);
    return inSession(this.#shards.of(key), call, async (session, limit) => {
      const [, data, version, revision] = await session.run(READ_CELL, [cell], [], { signal: limit, inBytes: true });
      if (!(data instanceof Buffer)) return undefined;
      return { data, version: Number(String(version)), revision: BigInt(String(revision)) };
    });
  }

  async write(key: string, { data, ifVersion }: CellChange, signal: AbortSignal, name = key): Promise<CellWrite> {
    const id = randomUUID();
    const sessions = this.#shards.of(key);
    const keys = [this.#of(key), sessions.keys.applied];
    const change = data === undefined ? ['remove'] : ['set', data];
    const values = [id, String(sessions.repeatableMs), String(ifVersion ?? ''), ...change];
    const doubt = { isSo: false };
    const [word, version] = await inSession(sessions, { key: name, wait: false, signal }, (session, limit) =>
      session.run(WRITE_CELL, keys, values, { signal: limit, doubt }),
    ).catch((error: unknown) => {
      throw doubt.isSo ? inDoubt(error, 'whether the write was applied', name) : error;
    });
    if (word === 'CONFLICT') return { isApplied: false };
    return { isApplied: true, version: data === undefined || version === '' ? undefined : Number(version) };
  }

  next(key: string, seen: Cell | undefined, signal: AbortSignal, name = key): Promise<Cell | undefined> {
    return this.until(key, { key: name, wait: true, signal }, (found) => found?.revision !== seen?.revision);
  }

  /** Resolves with the cell once it is as wanted. @param call how long the first look waits for a session */
  until(
    key: string,
    call: Call & { readonly signal: AbortSignal },
    isWanted: (found: Cell | undefined) => boolean,
  ): Promise<Cell | undefined> {
    const { topics, lookEveryMs } = this.#shards.of(key);
    let look = call;
    return watchUntil(topics, this.#of(key), call.signal, async () => {
      const found = await this.#read(key, look);
      look = { ...call, isContinued: true };
      return isWanted(found) ? { found } : { againInMs: lookEveryMs };
    });
  }

  #of(key: string): string {
    checkKey(key);
    return this.#shards.of(key).keys.of(this.#kind, key);
  }
}
