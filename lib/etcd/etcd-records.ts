import { randomUUID } from 'node:crypto';
import { LockConfigurationError } from '../contract/errors.js';
import { checkKey } from '../contract/key.js';
import { checkChanges } from '../contract/record-store.js';
import type { RecordChange, RecordStore, RecordWrite, StoredRecord } from '../contract/record-store.js';
import { rangeBelow } from './session/etcd-keys.js';
import type { EtcdSessions } from './session/etcd-sessions.js';
import { inDoubt } from '../sessions/backend-sessions.js';
import { inSession } from './session/in-session.js';
import { KeyWriting, readKeys } from './session/key-writing.js';
import type { KeyChange } from './session/key-writing.js';
import { MOST_OPERATIONS } from './session/outbox.js';
import type { KeyValue } from './wire/responses.js';

const PAGE = 1_000;

/** A record as its key stores it. */
interface Stored {
  readonly value: string;
  /** The time of the write, by the writer's clock. */
  readonly at: number;
  /** The id of the write. */
  readonly by: string;
}

/** Records as keys, written by transactions on what was read before. */
export class EtcdRecords implements RecordStore {
  /** One operation is left for the transaction around a write. */
  readonly mostChanges = MOST_OPERATIONS - 1;
  readonly #sessions: EtcdSessions;

  constructor(sessions: EtcdSessions) {
    this.#sessions = sessions;
  }

  async read(name: string): Promise<StoredRecord | undefined> {
    return (await this.readAll([name]))[0];
  }

  async readAll(names: readonly string[]): Promise<readonly (StoredRecord | undefined)[]> {
    names.forEach((name) => checkKey(name, 'name'));
    const [first] = names;
    if (first === undefined) return [];
    const found = await inSession(this.#sessions, { key: first, wait: false }, (session, signal) =>
      readKeys(
        session,
        names.map((name) => this.#keyOf(name)),
        signal,
      ),
    );
    return names.map((name, place) => recordOf(name, found[place]));
  }

  async list(name: string): Promise<readonly string[]> {
    checkKey(name, 'name');
    const above = `${this.#keyOf(name)}/`;
    const { end } = rangeBelow(above);
    return inSession(this.#sessions, { key: name, wait: false }, async (session, signal) => {
      const segments = new Set<string>();
      for (let from = above; ;) {
        const read = { kind: 'read', key: from, end, limit: PAGE, only: 'keys' } as const;
        const [page] = (await session.read([read], signal)).results;
        const rests = (page?.found ?? []).map(({ key }) => key.slice(above.length));
        for (const rest of rests) segments.add(rest.split('/')[0] ?? '');
        const last = rests.at(-1);
        if (!page?.hasMore || last === undefined) return [...segments];
        // Names below the last segment are skipped: '0' is the character after the slash.
        const slash = last.indexOf('/');
        from = above + (slash < 0 ? `${last}\0` : `${last.slice(0, slash)}0`);
      }
    });
  }

  async write(changes: readonly RecordChange[]): Promise<RecordWrite> {
    checkChanges(changes);
    changes.forEach(({ name }) => checkKey(name, 'name'));
    const [first] = changes;
    if (!first) return { isApplied: true, records: [] };
    if (changes.length > this.mostChanges) {
      const text = `etcd() writes at most ${this.mostChanges} records at once, these are ${changes.length}`;
      throw new LockConfigurationError(text, { key: first.name });
    }
    const id = randomUUID();
    const writing = new KeyWriting(changes.map((change) => keyChangeOf(change, this.#keyOf(change.name), id)));
    const { name } = first;
    const write = await inSession(this.#sessions, { key: name, wait: false }, (session, signal) =>
      writing.on(session, signal),
    ).catch((error: unknown) => {
      throw writing.isInDoubt ? inDoubt(error, 'whether the write was applied', name) : error;
    });
    if ('conflict' in write) return { isApplied: false, conflict: changes[write.conflict]?.name ?? '' };
    return { isApplied: true, records: recordsOf(changes, write.found, write.values) };
  }

  #keyOf(name: string): string {
    return this.#sessions.keys.of('record', name);
  }
}

function keyChangeOf({ value, ifVersion }: RecordChange, key: string, id: string): KeyChange {
  return {
    key,
    ifVersion,
    valueFor: (kv) => (typeof value === 'string' ? JSON.stringify(storedOf(value, id, kv)) : value),
    isOwn: (kv) => parse(kv.value).by === id,
  };
}

/** The writer's clock does not run backwards within a record. */
function storedOf(value: string, id: string, kv: KeyValue | undefined): Stored {
  return { value, at: Math.max(Date.now(), kv ? parse(kv.value).at : 0), by: id };
}

/** @param found what the keys were before @param values what they were set to */
function recordsOf(
  changes: readonly RecordChange[],
  found: readonly (KeyValue | undefined)[],
  values: readonly unknown[],
): readonly StoredRecord[] {
  return changes.flatMap(({ name }, place) => {
    const stored = values[place];
    if (typeof stored !== 'string') return [];
    const { value, at } = parse(stored);
    return [{ name, value, version: found[place]?.version ?? 0, writtenAt: new Date(at) }];
  });
}

function recordOf(name: string, kv: KeyValue | undefined): StoredRecord | undefined {
  if (!kv) return undefined;
  const { value, at } = parse(kv.value);
  // etcd counts writes from 1.
  return { name, value, version: kv.version - 1, writtenAt: new Date(at) };
}

function parse(value: string | Buffer): Stored {
  return JSON.parse(value.toString()) as Stored;
}
