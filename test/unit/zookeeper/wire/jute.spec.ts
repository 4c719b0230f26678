import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { JuteReader, JuteWriter } from '../../../../lib/zookeeper/wire/jute.js';

const hexOf = (write: (writer: JuteWriter) => JuteWriter) => write(new JuteWriter()).toBuffer().toString('hex');
const reading = (hex: string, offset?: number) => new JuteReader(Buffer.from(hex, 'hex'), offset);

describe('jute, written', () => {
  it.each<[string, (writer: JuteWriter) => JuteWriter, string]>([
    ['nothing', (w) => w, ''],
    ['a byte', (w) => w.byte(-2), 'fe'],
    ['a bool', (w) => w.bool(true).bool(false), '0100'],
    ['an int', (w) => w.int(258).int(-1), '00000102ffffffff'],
    ['a long', (w) => w.long(0x0102030405060708n).long(-1n), '0102030405060708ffffffffffffffff'],
    ['a buffer', (w) => w.buffer(Buffer.from([1, 2, 3])), '00000003010203'],
    ['an empty buffer', (w) => w.buffer(Buffer.alloc(0)), '00000000'],
    ['a string', (w) => w.string('/a'), '000000022f61'],
    ['a string in UTF-8, its length in bytes', (w) => w.string('é中😀'), '00000009c3a9e4b8adf09f9880'],
    ['a vector', (w) => w.vector(['a', 'bc'], (s) => w.string(s)), '000000020000000161000000026263'],
    ['an empty vector', (w) => w.vector([], () => w.int(1)), '00000000'],
    ['bytes as they are', (w) => w.raw(Buffer.from([9, 8])), '0908'],
  ])('encodes %s as the servers do', (_what, write, hex) => {
    expect(hexOf(write)).toBe(hex);
  });

  it('grows with the data, and ends exactly at its end', () => {
    const writer = new JuteWriter().buffer(Buffer.alloc(248, 1)).int(2);
    expect(writer.toBuffer()).toHaveLength(256);
    writer.string('').buffer(Buffer.alloc(100_000, 3)).byte(4);
    const bytes = writer.toBuffer();
    expect(bytes).toHaveLength(256 + 4 + 4 + 100_000 + 1);
    expect([bytes[255], bytes[264], bytes.at(-2), bytes.at(-1)]).toEqual([2, 3, 3, 4]);
  });

  it('accepts an empty string and an empty buffer at the end of its room', () => {
    const full = () => new JuteWriter().raw(Buffer.alloc(252));
    expect(full().string('').toBuffer()).toHaveLength(256);
    expect(full().int(0).raw(Buffer.alloc(0)).toBuffer()).toHaveLength(256);
  });
});

describe('jute, read', () => {
  it('starts at the given position', () => {
    expect(reading('ffffffff00000007', 4).int()).toBe(7);
  });

  it('reads null as empty', () => {
    expect(reading('ffffffff').buffer()).toHaveLength(0);
    expect(reading('ffffffff').string()).toBe('');
    expect(reading('ffffffff').vector(() => 1)).toEqual([]);
  });

  it('continues after a null', () => {
    const reader = reading('ffffffff00000007');
    reader.buffer();
    expect(reader.int()).toBe(7);
  });

  it('reads every byte but 0 as true', () => {
    const reader = reading('0001ff');
    expect([reader.bool(), reader.bool(), reader.bool()]).toEqual([false, true, true]);
  });

  it.each<[string, string, (reader: JuteReader) => unknown]>([
    ['bool', '', (reader) => reader.bool()],
    ['int', '000000', (reader) => reader.int()],
    ['long', '00000000000000', (reader) => reader.long()],
    ['buffer without a length', '0000', (reader) => reader.buffer()],
    ['buffer that is cut', '000000030102', (reader) => reader.buffer()],
    ['buffer of an impossible length', '7fffffff00', (reader) => reader.buffer()],
    ['string that is cut', '0000000461', (reader) => reader.string()],
    ['vector that is cut', '000000020000000161', (reader) => reader.vector(() => reader.string())],
    ['vector of an impossible length', '7fffffff', (reader) => reader.vector(() => reader.string())],
  ])('refuses a %s', (_what, hex, read) => {
    expect(() => read(reading(hex))).toThrow(RangeError);
  });
});

describe('jute, written and read', () => {
  const field = fc.oneof(
    fc.record({ kind: fc.constant('bool' as const), value: fc.boolean() }),
    fc.record({ kind: fc.constant('int' as const), value: fc.integer() }),
    fc.record({ kind: fc.constant('long' as const), value: fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }) }),
    fc.record({ kind: fc.constant('string' as const), value: fc.string({ unit: 'grapheme', maxLength: 300 }) }),
    fc.record({
      kind: fc.constant('buffer' as const),
      value: fc.uint8Array({ maxLength: 600 }).map((bytes) => Buffer.from(bytes)),
    }),
    fc.record({ kind: fc.constant('vector' as const), value: fc.array(fc.string({ unit: 'binary' })) }),
  );
  type Field = typeof field extends fc.Arbitrary<infer T> ? T : never;

  const write = (writer: JuteWriter, { kind, value }: Field) => {
    switch (kind) {
      case 'bool':
        return writer.bool(value);
      case 'int':
        return writer.int(value);
      case 'long':
        return writer.long(value);
      case 'string':
        return writer.string(value);
      case 'buffer':
        return writer.buffer(value);
      case 'vector':
        return writer.vector(value, (item) => writer.string(item));
    }
  };

  it('returns the same record', () => {
    fc.assert(
      fc.property(fc.array(field, { maxLength: 20 }), (fields) => {
        const writer = new JuteWriter();
        fields.forEach((each) => write(writer, each));
        const reader = new JuteReader(writer.toBuffer());
        const values = fields.map(({ kind }) =>
          kind === 'vector' ? reader.vector(() => reader.string()) : reader[kind](),
        );
        expect(values).toEqual(fields.map(({ value }) => value));
        expect(() => reader.bool()).toThrow(RangeError);
      }),
    );
  });
});
