import { randomUUID } from 'node:crypto';
import { checkKey } from '../contract/key.js';
import { checkChanges, UNCHANGED } from '../contract/record-store.js';
import type { RecordChange, RecordStore, RecordWrite, StoredRecord } from '../contract/record-store.js';
import { inDoubt } from '../sessions/backend-sessions.js';
import { LIST_RECORDS, READ_RECORDS, WRITE_RECORDS } from './scripts/record-scripts.js';
import type { Script, ScriptValue } from './client/script.js';
import { inSession } from './session/in-session.js';
import type { Answer, Doubt } from './session/redis-session.js';
import type { RedisSessions } from './session/redis-sessions.js';

/** Records as hashes, read and written by one script each. */
export class RedisRecords implements RecordStore {
  readonly #sessions: RedisSessions;

  constructor(sessions: RedisSessions) {
    this.#sessions = sessions;
  }

  get isReachable(): boolean {
    return this.#sessions.state === 'connected';
  }

  async read(name: string): Promise<StoredRecord | undefined> {
    return (await this.readAll([name]))[0];
  }

  async readAll(names: readonly string[]): Promise<readonly (StoredRecord | undefined)[]> {
    const [first] = names;
    if (first === undefined) return [];
    const [, ...found] = await this.#run(READ_RECORDS, names, []);
    return names.map((name, place) => {
      const [value, version, time] = found[place] as [string | null, string, string];
      return value === null ? undefined : recordOf(name, value, version, time);
    });
  }

  async list(name: string): Promise<readonly string[]> {
    checkKey(name, 'name');
    const [, ...segments] = await this.#run(LIST_RECORDS, [], [`${name}/`], { about: name });
    return [...new Set(segments as string[])];
  }

  async write(changes: readonly RecordChange[]): Promise<RecordWrite> {
    checkChanges(changes);
    const [first] = changes;
    if (!first) return { isApplied: true, records: [] };
    const id = randomUUID();
    const values = [id, String(this.#sessions.repeatableMs), ...changes.flatMap(valuesOf)];
    const names = changes.map(({ name }) => name);
    const doubt = { isSo: false };
    const written = await this.#run(WRITE_RECORDS, names, values, { doubt }).catch((error: unknown) => {
      throw doubt.isSo ? inDoubt(error, 'whether the write was applied', first.name) : error;
    });
    const [word, ...answers] = written;
    if (word === 'CONFLICT') return { isApplied: false, conflict: names[Number(answers[0]) - 1] ?? first.name };
    const [time, ...versions] = answers as string[];
    const set = changes.filter(({ value }) => typeof value === 'string');
    const records = set.map(({ name, value }, place) => recordOf(name, value as string, versions[place], time));
    // The version of a record that others have overwritten may not be known.
    return { isApplied: true, records: records.filter((_, place) => versions[place] !== '') };
  }

  #run(
    script: Script,
    names: readonly string[],
    values: readonly ScriptValue[],
    { about = names[0] ?? '', doubt = { isSo: false } }: { readonly about?: string; readonly doubt?: Doubt } = {},
  ): Promise<Answer> {
    names.forEach((name) => checkKey(name, 'name'));
    const { keys } = this.#sessions;
    const used = [keys.of('n', ''), keys.applied, ...names.map((name) => keys.of('r', name))];
    return inSession(this.#sessions, { key: about, wait: false }, (session, signal) =>
      session.run(script, used, values, { signal, doubt }),
    );
  }
}

function valuesOf({ name, value, ifVersion }: RecordChange): readonly string[] {
  const change = value === UNCHANGED ? 'keep' : value === undefined ? 'remove' : 'set';
  return [name, String(ifVersion ?? ''), change, typeof value === 'string' ? value : ''];
}

function recordOf(name: string, value: string, version = '0', time = '0'): StoredRecord {
  return { name, value, version: Number(version), writtenAt: new Date(Number(time)) };
}
