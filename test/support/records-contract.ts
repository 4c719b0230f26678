import { describe, expect, it } from 'vitest';
import { LockConfigurationError } from '../../lib/contract/errors.js';
import { UNCHANGED } from '../../lib/contract/record-store.js';
import type { RecordChange, RecordStore, StoredRecord } from '../../lib/contract/record-store.js';

const LARGEST = 'x'.repeat(64 * 1_024);

/** What every `RecordStore` does, whatever it is made of. `open` gives an empty one. */
export function itKeepsRecords(open: () => Promise<RecordStore>): void {
  describe('reading', () => {
    it('finds nothing where nothing was written', async () => {
      const records = await open();
      expect(await records.read('a')).toBeUndefined();
      expect(await records.list('a')).toEqual([]);
    });

    it.each(['', 'text', 'ümläut 中文 🙂', '{"n":1}\n', LARGEST])('finds what was written: %.20j', async (value) => {
      const records = await open();
      const written = await put(records, 'a/b', value);
      expect(written).toEqual({ name: 'a/b', value, version: 0, writtenAt: expect.any(Date) });
      expect(await records.read('a/b')).toEqual(written);
    });

    it('finds several as they were at one moment', async () => {
      const records = await open();
      await put(records, 'left', '50');
      await put(records, 'right', '50');
      let isOver = false;
      const move = async (from: string, to: string) => {
        while (!isOver) {
          const [a, b] = await Promise.all([records.read(from), records.read(to)]);
          if (!a || !b || Number(a.value) === 0) continue;
          await records.write([
            { name: from, value: String(Number(a.value) - 1), ifVersion: a.version },
            { name: to, value: String(Number(b.value) + 1), ifVersion: b.version },
          ]);
          await new Promise((resolve) => setImmediate(resolve));
        }
      };
      const movers = [move('left', 'right'), move('right', 'left')];
      const versions = new Set<number>();
      for (let look = 0; look < 50; look++) {
        const [left, right, nothing] = await records.readAll(['left', 'right', 'nothing']);
        expect(Number(left?.value) + Number(right?.value)).toBe(100);
        expect(nothing).toBeUndefined();
        versions.add(left?.version ?? -1);
        await new Promise((resolve) => setImmediate(resolve));
      }
      isOver = true;
      await Promise.all(movers);
      expect(versions.size).toBeGreaterThan(1);
      expect(await records.readAll([])).toEqual([]);
    });

    it('does not take what leads to a record for one', async () => {
      const records = await open();
      await put(records, 'a/b/c', '1');
      expect(await records.read('a/b')).toBeUndefined();
      expect(await records.write([{ name: 'a/b', value: '2', ifVersion: 'absent' }])).toMatchObject({
        isApplied: true,
      });
      expect((await records.read('a/b/c'))?.value).toBe('1');
      expect((await records.read('a/b'))?.value).toBe('2');
    });

    it('tells names apart that look alike, and gives them back as they were', async () => {
      const records = await open();
      const names = ['a', 'A', 'a b', 'a%20b', '100%', '🙂', 'ä', '%'];
      for (const name of names) await put(records, `all/${name}`, name);
      expect([...(await records.list('all'))].sort()).toEqual([...names].sort());
      for (const name of names) expect((await records.read(`all/${name}`))?.value).toBe(name);
    });
  });

  describe('a write', () => {
    it('makes a record, writes over it and counts', async () => {
      const records = await open();
      const versions: number[] = [];
      for (const value of ['1', '2', '2']) versions.push((await put(records, 'a', value)).version);
      expect(versions).toEqual([0, 1, 2]);
    });

    it('has a time that does not run backwards', async () => {
      const records = await open();
      const first = await put(records, 'a', '1');
      const second = await put(records, 'a', '2');
      expect(second.writtenAt.getTime()).toBeGreaterThanOrEqual(first.writtenAt.getTime());
    });

    it('removes a record, also one that has others below and one that is not there', async () => {
      const records = await open();
      await put(records, 'a', '1');
      await put(records, 'a/b', '2');
      await put(records, 'a/c', '3');
      expect(await records.write(['a', 'a/c', 'a/d'].map((name) => ({ name, value: undefined })))).toEqual({
        isApplied: true,
        records: [],
      });
      expect(await Promise.all(['a', 'a/c', 'a/d'].map((name) => records.read(name)))).toEqual(
        Array(3).fill(undefined),
      );
      expect(await records.list('a')).toEqual(['b']);
      expect((await records.read('a/b'))?.value).toBe('2');
    });

    it('makes a removed record anew', async () => {
      const records = await open();
      await put(records, 'a', '1');
      await put(records, 'a/b', '1');
      for (const name of ['a', 'a/b']) await records.write([{ name, value: undefined }]);
      for (const name of ['a', 'a/b']) {
        expect(await records.write([{ name, value: '2', ifVersion: 'absent' }])).toMatchObject({ isApplied: true });
        expect((await records.read(name))?.value).toBe('2');
      }
    });

    it('of nothing is applied', async () => {
      expect(await (await open()).write([])).toEqual({ isApplied: true, records: [] });
    });
  });

  describe('a condition', () => {
    it.each([
      ['a value', 'new'],
      ['a removal', undefined],
      ['nothing but the condition', UNCHANGED],
    ] as const)('of %s holds, or is a conflict that names the record', async (_what, value) => {
      const records = await open();
      await put(records, 'there', '1');
      const attempts = [
        { name: 'there', ifVersion: 1 },
        { name: 'there', ifVersion: 'absent' },
        { name: 'missing', ifVersion: 0 },
        { name: 'deep/below/missing', ifVersion: 0 },
      ] as const;
      for (const attempt of attempts) {
        expect(await records.write([{ value, ...attempt }])).toEqual({ isApplied: false, conflict: attempt.name });
      }
      expect((await records.read('there'))?.value).toBe('1');
      expect(await records.write([{ name: 'there', value, ifVersion: 0 }])).toMatchObject({ isApplied: true });
      const deep = { name: 'deep/below/other', value, ifVersion: 'absent' } as const;
      expect(await records.write([deep])).toMatchObject({ isApplied: true });
      const isText = typeof value === 'string';
      expect((await records.read('there'))?.value).toBe(value === UNCHANGED ? '1' : value);
      expect((await records.read('deep/below/other'))?.value).toBe(isText ? value : undefined);
    });

    it('makes all changes depend on it', async () => {
      const records = await open();
      await put(records, 'a', '1');
      await put(records, 'gone', '1');
      const changes = (version: number): RecordChange[] => [
        { name: 'a', value: '2', ifVersion: 0 },
        { name: 'new/one', value: '2', ifVersion: 'absent' },
        { name: 'any', value: '2' },
        { name: 'gone', value: undefined },
        { name: 'a/checked', value: UNCHANGED, ifVersion: version },
      ];
      await put(records, 'a/checked', 'as it was');
      expect(await records.write(changes(7))).toEqual({ isApplied: false, conflict: 'a/checked' });
      const valuesNow = async () =>
        (await Promise.all(changes(0).map(({ name }) => records.read(name)))).map((record) => record?.value);
      expect(await valuesNow()).toEqual(['1', undefined, undefined, '1', 'as it was']);

      const write = await records.write(changes(0));

      expect(await valuesNow()).toEqual(['2', '2', '2', undefined, 'as it was']);
      const written = await Promise.all(['a', 'new/one', 'any'].map((name) => records.read(name)));
      expect(write).toEqual({ isApplied: true, records: written });
    });

    it('lets one of many have it', async () => {
      const records = await open();
      await put(records, 'n', '0');
      const add = async () => {
        for (;;) {
          const { value = '', version } = (await records.read('n')) ?? {};
          const change = {
            name: 'n',
            value: String(Number(value) + 1),
            ...(version !== undefined && { ifVersion: version }),
          };
          if ((await records.write([change])).isApplied) return;
        }
      };
      await Promise.all(Array.from({ length: 20 }, add));
      expect(await records.read('n')).toMatchObject({ value: '20', version: 20 });
    });
  });

  describe('what can not be', () => {
    it.each([
      [
        'a value that is too large',
        [{ name: 'big', value: `${LARGEST}x` }],
        /value of the string "big" must be at most/,
      ],
      [
        'counted in bytes',
        [{ name: 'big', value: 'ä'.repeat(40_000) }],
        /value of the string "big" must be at most 65536/,
      ],
      [
        'too much at once',
        Array.from({ length: 9 }, (_, place) => ({ name: `n${place}`, value: LARGEST })),
        /changes must be at most 524288 bytes/,
      ],
      [
        'the same name twice',
        [
          { name: 'a', value: '1' },
          { name: 'a', value: '2' },
        ],
        /"a" is named twice/,
      ],
      ['a value of another kind', [{ name: 'a', value: 1 as unknown as string }], /value of the string "a" must be/],
      ['a version of another kind', [{ name: 'a', value: '1', ifVersion: -1 }], /ifVersion of the string "a" must be/],
      ['no name', [{ name: '', value: '1' }], /name must be a string that is not empty/],
      ['a misspelt field', [{ name: 'a', value: '1', version: 1 }], /unknown field "version"/],
    ])('is refused before anything is written: %s', async (_what, changes, message) => {
      const records = await open();
      const attempt = expect(records.write([{ name: 'other', value: '1' }, ...changes])).rejects;
      await attempt.toThrow(LockConfigurationError);
      await expect(records.write(changes)).rejects.toThrow(message);
      expect(await records.read('other')).toBeUndefined();
    });
  });
}

/** Writes one record whatever it is now. */
export async function put(records: RecordStore, name: string, value: string): Promise<StoredRecord> {
  const write = await records.write([{ name, value }]);
  if (!write.isApplied || !write.records[0]) throw new Error(`not written: ${name}`);
  return write.records[0];
}
