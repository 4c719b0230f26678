import assert from 'node:assert/strict';
import type { RecordStore } from '../../contract/record-store.js';
import { LARGEST_VALUE_BYTES } from '../../contract/record-store.js';
import { checksOf } from './contract-check.js';
import { put } from './put.js';

const VALUES = ['', 'text', 'ümläut 中文 🙂', '{"n":1}\n', 'x'.repeat(LARGEST_VALUE_BYTES)];
const LOOKS = 50;

/** Moves units from one record to the other until `isOver`. Their sum stays the same. */
async function move(records: RecordStore, from: string, to: string, isOver: () => boolean): Promise<void> {
  while (!isOver()) {
    const [a, b] = await Promise.all([records.read(from), records.read(to)]);
    if (!a || !b || Number(a.value) === 0) continue;
    await records.write([
      { name: from, value: String(Number(a.value) - 1), ifVersion: a.version },
      { name: to, value: String(Number(b.value) + 1), ifVersion: b.version },
    ]);
    await new Promise(setImmediate);
  }
}

export const RECORD_READING = checksOf('reading records', {
  'finds nothing where nothing was written': async ({ records }) => {
    assert.equal(await records.read('a'), undefined);
    assert.deepEqual(await records.list('a'), []);
    assert.deepEqual(await records.readAll([]), []);
  },

  'finds what was written': async ({ records }) => {
    for (const [place, value] of VALUES.entries()) {
      const name = `a/${place}`;
      const written = await put(records, name, value);
      assert.ok(written.writtenAt instanceof Date);
      assert.deepEqual({ ...written, writtenAt: 0 }, { name, value, version: 0, writtenAt: 0 });
      assert.deepEqual(await records.read(name), written);
    }
  },

  'finds several as they were at one moment': async ({ records }) => {
    await put(records, 'left', '50');
    await put(records, 'right', '50');
    let isOver = false;
    const movers = [move(records, 'left', 'right', () => isOver), move(records, 'right', 'left', () => isOver)];
    const versions = new Set<number | undefined>();
    try {
      for (let look = 0; look < LOOKS; look++) {
        const [left, right, nothing] = await records.readAll(['left', 'right', 'nothing']);
        assert.equal(Number(left?.value) + Number(right?.value), 100);
        assert.equal(nothing, undefined);
        versions.add(left?.version);
        await new Promise(setImmediate);
      }
    } finally {
      isOver = true;
      await Promise.all(movers);
    }
    assert.ok(versions.size > 1, 'nothing was written meanwhile');
  },

  'does not take what leads to a record for one': async ({ records }) => {
    await put(records, 'a/b/c', '1');
    assert.equal(await records.read('a/b'), undefined);
    assert.equal((await records.write([{ name: 'a/b', value: '2', ifVersion: 'absent' }])).isApplied, true);
    assert.equal((await records.read('a/b/c'))?.value, '1');
    assert.equal((await records.read('a/b'))?.value, '2');
  },

  'tells names apart that look alike, and lists them as they were': async ({ records }) => {
    const names = ['a', 'A', 'a b', 'a%20b', '100%', '🙂', 'ä', '%'];
    for (const name of names) await put(records, `all/${name}`, name);
    assert.deepEqual([...(await records.list('all'))].sort(), [...names].sort());
    for (const name of names) assert.equal((await records.read(`all/${name}`))?.value, name);
  },
});
