import assert from 'node:assert/strict';
import { UNCHANGED } from '../../contract/record-store.js';
import type { RecordChange, RecordStore } from '../../contract/record-store.js';
import { checksOf } from './contract-check.js';
import { put } from './put.js';

const ADDERS = 20;

/** Adds one to a number, retrying as often as another writer was faster. */
async function add(records: RecordStore): Promise<void> {
  for (;;) {
    const { value = '', version } = (await records.read('n')) ?? {};
    const change = {
      name: 'n',
      value: String(Number(value) + 1),
      ...(version !== undefined && { ifVersion: version }),
    };
    if ((await records.write([change])).isApplied) return;
  }
}

const valuesOf = async (records: RecordStore, names: readonly string[]) =>
  (await Promise.all(names.map((name) => records.read(name)))).map((record) => record?.value);

export const RECORD_WRITING = checksOf('writing records', {
  'makes a record, writes over it and counts': async ({ records }) => {
    const versions: number[] = [];
    for (const value of ['1', '2', '2']) versions.push((await put(records, 'a', value)).version);
    assert.deepEqual(versions, [0, 1, 2]);
  },

  'has a time that does not run backwards': async ({ records }) => {
    const first = await put(records, 'a', '1');
    const second = await put(records, 'a', '2');
    assert.ok(second.writtenAt.getTime() >= first.writtenAt.getTime());
  },

  'removes a record, also one that has others below and one that is not there': async ({ records }) => {
    for (const name of ['a', 'a/b', 'a/c']) await put(records, name, name);
    const removed = ['a', 'a/c', 'a/d'];
    const write = await records.write(removed.map((name) => ({ name, value: undefined })));
    assert.deepEqual(write, { isApplied: true, records: [] });
    assert.deepEqual(await valuesOf(records, removed), [undefined, undefined, undefined]);
    assert.deepEqual(await records.list('a'), ['b']);
    assert.equal((await records.read('a/b'))?.value, 'a/b');
  },

  'makes a removed record anew': async ({ records }) => {
    for (const name of ['a', 'a/b']) await put(records, name, '1');
    for (const name of ['a', 'a/b']) await records.write([{ name, value: undefined }]);
    for (const name of ['a', 'a/b']) {
      assert.equal((await records.write([{ name, value: '2', ifVersion: 'absent' }])).isApplied, true);
      assert.equal((await records.read(name))?.value, '2');
    }
  },

  'applies a write of nothing': async ({ records }) => {
    assert.deepEqual(await records.write([]), { isApplied: true, records: [] });
  },

  'makes all changes depend on every condition': async ({ records }) => {
    for (const name of ['a', 'gone', 'a/checked']) await put(records, name, '1');
    const changes = (version: number): RecordChange[] => [
      { name: 'a', value: '2', ifVersion: 0 },
      { name: 'new/one', value: '2', ifVersion: 'absent' },
      { name: 'any', value: '2' },
      { name: 'gone', value: undefined },
      { name: 'a/checked', value: UNCHANGED, ifVersion: version },
    ];
    const names = changes(0).map(({ name }) => name);
    assert.deepEqual(await records.write(changes(7)), { isApplied: false, conflict: 'a/checked' });
    assert.deepEqual(await valuesOf(records, names), ['1', undefined, undefined, '1', '1']);

    const write = await records.write(changes(0));

    assert.deepEqual(await valuesOf(records, names), ['2', '2', '2', undefined, '1']);
    const written = await records.readAll(['a', 'new/one', 'any']);
    assert.deepEqual(write, { isApplied: true, records: written });
  },

  'shows every client what another one wrote, and removed': async ({ records, othersRecords }) => {
    const written = await put(records, 'all/a', '1');
    assert.deepEqual(await othersRecords.read('all/a'), written);
    assert.deepEqual(await othersRecords.list('all'), ['a']);
    const again = await othersRecords.write([{ name: 'all/a', value: '2', ifVersion: written.version }]);
    assert.equal(again.isApplied, true);
    assert.equal((await records.read('all/a'))?.value, '2');
    const late = await records.write([{ name: 'all/a', value: '3', ifVersion: written.version }]);
    assert.deepEqual(late, { isApplied: false, conflict: 'all/a' });
    await othersRecords.write([{ name: 'all/a', value: undefined }]);
    assert.equal(await records.read('all/a'), undefined);
  },

  'lets one of many have it': async ({ records, othersRecords }) => {
    await put(records, 'n', '0');
    const stores = Array.from({ length: ADDERS }, (_, turn) => (turn % 2 === 0 ? records : othersRecords));
    await Promise.all(stores.map((store) => add(store)));
    const { value, version } = (await records.read('n')) ?? {};
    assert.deepEqual([value, version], [String(ADDERS), ADDERS]);
  },
});
