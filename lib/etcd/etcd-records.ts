import { randomUUID } from 'node:crypto';
import { LockConfigurationError } from '../contract/errors.js';
import { checkKey } from '../contract/key.js';
import { checkChanges, UNCHANGED } from '../contract/record-store.js';
import type { RecordChange, RecordStore, RecordWrite, StoredRecord } from '../contract/record-store.js';
import { RefusedError } from './client/etcd-error.js';
import { rangeBelow } from './session/etcd-keys.js';
import type { Doubt, EtcdSession } from './session/etcd-session.js';
import type { EtcdSessions } from './session/etcd-sessions.js';
import { inSession } from './session/in-session.js';
import { MOST_OPERATIONS } from './session/outbox.js';
import { unknownResult } from './session/unknown-result.js';
import type { Op } from './wire/requests.js';
import type { KeyValue } from './wire/responses.js';

/** One operation is left for the transaction around a write. */
const MOST_CHANGES = MOST_OPERATIONS - 1;
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
      this.#find(session, names, signal),
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
    if (changes.length > MOST_CHANGES) {
      const text = `etcd() writes at most ${MOST_CHANGES} records at once, these are ${changes.length}`;
      throw new LockConfigurationError(text, { key: first.name });
    }
    const id = randomUUID();
    const doubt = { isSo: false };
    return inSession(this.#sessions, { key: first.name, wait: false }, (session, signal) =>
      this.#write(session, changes, { id, doubt, signal }),
    );
  }

  async #write(
    session: EtcdSession,
    changes: readonly RecordChange[],
    { id, doubt, signal }: { id: string; doubt: Doubt; signal: AbortSignal },
  ): Promise<RecordWrite> {
    const names = changes.map(({ name }) => name);
    for (;;) {
      const found = await this.#find(session, names, signal);
      if (doubt.isSo) {
        const written = writtenBy(id, changes, found);
        if (written) return written;
      }
      const conflict = changes.find(({ ifVersion }, place) => !isMet(ifVersion, found[place]));
      // A conflicting record may be younger than the write whose answer was lost.
      if (doubt.isSo && (conflict || !isSure(changes))) throw unknownResult(names[0] ?? '', 'the write was applied');
      if (conflict) return { isApplied: false, conflict: conflict.name };
      const stored = changes.map(({ value }, place) => storedOf(value, id, found[place]));
      const keys = names.map((name) => this.#keyOf(name));
      const answer = await session.change(
        {
          about: keys,
          compare: keys.map((key, place) => ({
            key,
            property: 'modified',
            is: 'equal',
            than: found[place]?.modified ?? 0,
          })),
          success: changes.flatMap(({ value }, place) => opOf(keys[place] ?? '', value, stored[place])),
          failure: [],
        },
        { signal, doubt },
      );
      if (answer.isMet) return { isApplied: true, records: recordsOf(changes, found, stored) };
    }
  }

  /** Reads keys as of one moment. */
  async #find(
    session: EtcdSession,
    names: readonly string[],
    signal: AbortSignal,
  ): Promise<readonly (KeyValue | undefined)[]> {
    for (;;) {
      try {
        return await findAtOnce(
          session,
          names.map((name) => this.#keyOf(name)),
          signal,
        );
      } catch (error) {
        // A server that is behind, or that has compacted between two parts of the read.
        if (!(error instanceof RefusedError && (error.isFuture || error.isCompacted))) throw error;
      }
    }
  }

  #keyOf(name: string): string {
    return this.#sessions.keys.of('record', name);
  }
}

async function findAtOnce(
  session: EtcdSession,
  keys: readonly string[],
  signal: AbortSignal,
): Promise<readonly (KeyValue | undefined)[]> {
  const found: (KeyValue | undefined)[] = [];
  let at: number | undefined;
  for (let first = 0; first < keys.length; first += MOST_OPERATIONS) {
    const reads = keys.slice(first, first + MOST_OPERATIONS).map((key) => ({
      kind: 'read' as const,
      key,
      ...(at !== undefined && { revision: at }),
    }));
    const { results, revision } = await session.read(reads, signal);
    at ??= revision;
    found.push(...results.map((result) => result.found[0]));
  }
  return found;
}

/** Returns the result of an earlier attempt; `undefined` when nothing of it is there. */
function writtenBy(
  id: string,
  changes: readonly RecordChange[],
  found: readonly (KeyValue | undefined)[],
): RecordWrite | undefined {
  const sets = changes.flatMap(({ name, value }, place) =>
    typeof value === 'string' ? [{ name, kv: found[place] }] : [],
  );
  const own = sets.filter(({ kv }) => kv && parse(kv).by === id);
  if (own.length === 0) return undefined;
  if (own.length < sets.length) throw unknownResult(changes[0]?.name ?? '', 'others have overwritten the write');
  return { isApplied: true, records: own.flatMap(({ name, kv }) => recordOf(name, kv) ?? []) };
}

/** Whether a write that was applied would have changed its own conditions, so that it can be made again. */
function isSure(changes: readonly RecordChange[]): boolean {
  return changes.some(({ value, ifVersion }) => ifVersion !== undefined && value !== UNCHANGED);
}

function isMet(ifVersion: RecordChange['ifVersion'], kv: KeyValue | undefined): boolean {
  if (ifVersion === undefined) return true;
  return ifVersion === 'absent' ? kv === undefined : kv?.version === ifVersion + 1;
}

/** The writer's clock does not run backwards within a record. */
function storedOf(value: RecordChange['value'], id: string, kv: KeyValue | undefined): Stored | undefined {
  if (typeof value !== 'string') return undefined;
  return { value, at: Math.max(Date.now(), kv ? parse(kv).at : 0), by: id };
}

function opOf(key: string, value: RecordChange['value'], stored: Stored | undefined): readonly Op[] {
  if (stored) return [{ kind: 'put', key, value: JSON.stringify(stored) }];
  return value === UNCHANGED ? [] : [{ kind: 'delete', key }];
}

function recordsOf(
  changes: readonly RecordChange[],
  found: readonly (KeyValue | undefined)[],
  stored: readonly (Stored | undefined)[],
): readonly StoredRecord[] {
  return changes.flatMap(({ name }, place) => {
    const { value, at } = stored[place] ?? {};
    if (value === undefined || at === undefined) return [];
    return [{ name, value, version: found[place]?.version ?? 0, writtenAt: new Date(at) }];
  });
}

function recordOf(name: string, kv: KeyValue | undefined): StoredRecord | undefined {
  if (!kv) return undefined;
  const { value, at } = parse(kv);
  // etcd counts writes from 1.
  return { name, value, version: kv.version - 1, writtenAt: new Date(at) };
}

function parse({ value }: KeyValue): Stored {
  return JSON.parse(value.toString()) as Stored;
}
