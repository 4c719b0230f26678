import assert from 'node:assert/strict';
import { LockConfigurationError } from '../../contract/errors.js';
import { LARGEST_VALUE_BYTES, LARGEST_WRITE_BYTES, UNCHANGED } from '../../contract/record-store.js';
import type { RecordChange, RecordStore } from '../../contract/record-store.js';
import { checksOf } from './contract-check.js';
import { put } from './put.js';

type Value = RecordChange['value'];

const VALUES: readonly Value[] = ['new', undefined, UNCHANGED];

/** Conditions that the records do not fulfil. */
const UNMET: readonly Pick<RecordChange, 'name' | 'ifVersion'>[] = [
  { name: 'there', ifVersion: 1 },
  { name: 'there', ifVersion: 'absent' },
  { name: 'missing', ifVersion: 0 },
  { name: 'deep/below/missing', ifVersion: 0 },
];

async function refusesUnmet(records: RecordStore, value: Value): Promise<void> {
  for (const attempt of UNMET) {
    const write = await records.write([{ ...attempt, value }]);
    assert.deepEqual(write, { isApplied: false, conflict: attempt.name });
  }
  assert.equal((await records.read('there'))?.value, '1');
}

async function appliesMet(records: RecordStore, value: Value): Promise<void> {
  assert.equal((await records.write([{ name: 'there', value, ifVersion: 0 }])).isApplied, true);
  assert.equal((await records.write([{ name: 'deep/below/other', value, ifVersion: 'absent' }])).isApplied, true);
  assert.equal((await records.read('there'))?.value, value === UNCHANGED ? '1' : value);
  assert.equal((await records.read('deep/below/other'))?.value, typeof value === 'string' ? value : undefined);
}

const LARGEST = 'x'.repeat(LARGEST_VALUE_BYTES);

/** Changes that every store refuses, and the error messages. */
const REFUSED: readonly (readonly [changes: readonly unknown[], message: RegExp])[] = [
  [[{ name: 'big', value: `${LARGEST}x` }], /^value of .*big.* must be at most/],
  [[{ name: 'big', value: 'ä'.repeat(40_000) }], /^value of .*big.* must be at most 65536/],
  [
    Array.from({ length: LARGEST_WRITE_BYTES / LARGEST_VALUE_BYTES + 1 }, (_, place) => ({
      name: `n${place}`,
      value: LARGEST,
    })),
    /changes must be at most 524288 bytes/,
  ],
  [['1', '2'].map((value) => ({ name: 'a', value })), /a" is named twice/],
  [[{ name: 'a', value: 1 }], /^value of .* must be/],
  [[{ name: 'a', value: '1', ifVersion: -1 }], /^ifVersion of .* must be/],
  [[{ name: '', value: '1' }], /^name must be a string that is not empty/],
  [[{ name: 'a', value: '1', version: 1 }], /unknown field "version"/],
];

export const RECORD_CONDITIONS = checksOf('conditions of writes', {
  'refuse what is not so, and name the record': async ({ records }) => {
    await put(records, 'there', '1');
    for (const value of VALUES) await refusesUnmet(records, value);
  },

  'apply what is so: a value': async ({ records }) => {
    await put(records, 'there', '1');
    await appliesMet(records, 'new');
  },

  'apply what is so: a removal': async ({ records }) => {
    await put(records, 'there', '1');
    await appliesMet(records, undefined);
  },

  'apply what is so: nothing but the condition': async ({ records }) => {
    await put(records, 'there', '1');
    await appliesMet(records, UNCHANGED);
  },

  'refuse what cannot be before anything is written': async ({ records }) => {
    for (const [changes, message] of REFUSED) {
      const withAnother = [{ name: 'other', value: '1' }, ...changes] as RecordChange[];
      await assert.rejects(records.write(withAnother), LockConfigurationError);
      await assert.rejects(records.write(changes as RecordChange[]), { name: 'LockConfigurationError', message });
      assert.equal(await records.read('other'), undefined);
    }
  },
});
