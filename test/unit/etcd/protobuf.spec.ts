import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { FieldReader, FieldWriter } from '../../../lib/etcd/wire/protobuf.js';
import { rangeRequest, txnRequest, watchRequest } from '../../../lib/etcd/wire/requests.js';
import { readTxnResponse, readWatchResponse } from '../../../lib/etcd/wire/responses.js';
import { bytesField, intField, messageField } from './support/fields.js';

describe('fields', () => {
  it.each([
    ['a number', intField(3, 150), '189601'],
    ['a negative number', intField(1, -1n), '08ffffffffffffffffff01'],
    ['a truth value', intField(7, true), '3801'],
    ['text', bytesField(2, 'testing'), '120774657374696e67'],
    ['a message', messageField(3, [intField(1, 150)]), '1a03089601'],
    ['a message without fields', messageField(3, []), '1a00'],
    ['a field with a large number', bytesField(64, 'a'), '82040161'],
    ['the default of a number', intField(1, 0), ''],
    ['the default of text', bytesField(1, ''), ''],
  ])('encode %s', (_, field, expected) => {
    expect(field.toString('hex')).toBe(expected);
  });

  it('of any length may be in each other', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 0, max: 20_000 }), { minLength: 1, maxLength: 4 }), (lengths) => {
        const writer = new FieldWriter();
        const texts = lengths.map((length) => 'é'.repeat(length));
        const write = (depth: number) => {
          writer.bytes(1, texts[depth] ?? '');
          if (depth + 1 < texts.length) writer.message(2, () => write(depth + 1));
          writer.number(3, depth + 1);
        };
        write(0);
        const expected = texts.reduceRight<Buffer>(
          (inner, text, depth) =>
            Buffer.concat([
              bytesField(1, text),
              depth + 1 < texts.length ? bytesField(2, inner) : Buffer.alloc(0),
              intField(3, depth + 1),
            ]),
          Buffer.alloc(0),
        );
        expect(writer.written.equals(expected)).toBe(true);
      }),
    );
  });

  it('are read as they were written, by any other order and with unknown ones between', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }), fc.string(), (number, text) => {
        const unknown = [intField(15, 7), Buffer.from('7d01020304', 'hex'), Buffer.from('790102030405060708', 'hex')];
        const reader = new FieldReader(
          Buffer.concat([...unknown, bytesField(2, text), ...unknown, intField(1, number)]),
        );
        const read: unknown[] = [];
        for (let field = reader.next(); field !== 0; field = reader.next()) {
          if (field === 1) read.push(reader.bigint());
          if (field === 2) read.push(reader.text());
        }
        const expected = [text === '' ? [] : [Buffer.from(text).toString()], number === 0n ? [] : [number]].flat();
        expect(read).toEqual(expected);
      }),
    );
  });

  it('that are cut off are refused, and never read for ever', () => {
    const whole = Buffer.concat([messageField(2, [bytesField(5, 'value'), intField(3, 2 ** 40)]), intField(4, 300)]);
    const outcomeAt = (end: number) => {
      const reader = new FieldReader(whole.subarray(0, end));
      try {
        while (reader.next() !== 0);
        return 'a message';
      } catch (error) {
        return (error as Error).name;
      }
    };
    const cuts = Array.from({ length: whole.length - 1 }, (_, place) => place + 1);
    // Between two fields, the part before is a message as well.
    const expected = cuts.map((end) => (end === whole.length - 3 ? 'a message' : 'RangeError'));
    expect(cuts.map(outcomeAt)).toEqual(expected);
  });
});

describe('requests', () => {
  it('have the fields of etcd', () => {
    expect(rangeRequest({ kind: 'read', key: 'a', end: 'b', limit: 1, inOrderOf: 'creation' }).toString('hex')).toBe(
      '0a0161120162180128013002',
    );
    expect(watchRequest(3, { key: 'a' }, 9).toString('hex')).toBe('0a070a016118093803');
    const compare = { key: 'a', end: 'b', property: 'modified', is: 'less', than: 5 } as const;
    const put = { kind: 'put', key: 'k', value: 'v', lease: 7n } as const;
    expect(txnRequest({ compare: [compare], success: [put], failure: [] }).toString('hex')).toBe(
      '0a0d080210021a0161300582040162' + '120a12080a016b1201761807',
    );
  });
});

describe('answers', () => {
  it('to a transaction are read with those inside it', () => {
    const header = messageField(1, [intField(3, 12), intField(4, 2)]);
    const read = messageField(1, [
      messageField(2, [bytesField(1, 'k'), intField(2, 10), intField(3, 11), intField(4, 2)]),
    ]);
    const inner = messageField(4, [intField(2, true), messageField(3, [read]), messageField(3, [messageField(3, [])])]);
    const answer = readTxnResponse(Buffer.concat([header, intField(2, true), messageField(3, [inner])]));
    expect(answer).toMatchObject({ isMet: true, revision: 12, term: 2 });
    expect(answer.results).toMatchObject([
      {
        kind: 'txn',
        isMet: true,
        results: [{ kind: 'read', found: [{ key: 'k', created: 10, modified: 11, version: 2 }] }, { kind: 'delete' }],
      },
    ]);
  });

  it('of a watch tell deletions from writes', () => {
    const event = (isDeleted: boolean) =>
      messageField(11, [intField(1, isDeleted), messageField(2, [bytesField(1, 'k'), intField(3, 4)])]);
    const { id, events } = readWatchResponse(Buffer.concat([intField(2, 3), event(false), event(true)]));
    expect(id).toBe(3);
    expect(events.map(({ isDeleted, kv }) => [isDeleted, kv.key, kv.modified])).toEqual([
      [false, 'k', 4],
      [true, 'k', 4],
    ]);
  });
});
