import { describe, expect, it } from 'vitest';
import { ErrorCode, CreateMode, OpCode } from '../../../../lib/zookeeper/wire/codes.js';
import { JuteReader, JuteWriter } from '../../../../lib/zookeeper/wire/jute.js';
import { multiRecord, readMultiResults } from '../../../../lib/zookeeper/wire/multi.js';
import { createRecord } from '../../../../lib/zookeeper/wire/records.js';

const bytes = (...parts: string[]) => Buffer.from(parts.join(''), 'hex');
const text = (ascii: string) => Buffer.from(ascii).toString('hex');

const END = bytes('ffffffff', '01', 'ffffffff');
const STAT = Buffer.alloc(68);
const acl = [{ permissions: 31, scheme: 'world', id: 'anyone' }];

/** The bytes that the servers write for one operation. */
const applied = (type: number, body: Buffer = Buffer.alloc(0)) =>
  new JuteWriter().int(type).bool(false).int(0).raw(body).toBuffer();
const refused = (code: number) => new JuteWriter().int(-1).bool(false).int(code).int(code).toBuffer();
const path = (name: string) => new JuteWriter().string(name).toBuffer();
const resultsOf = (...parts: Buffer[]) => readMultiResults(new JuteReader(Buffer.concat(parts)));

describe('a transaction, byte by byte', () => {
  it('consists only of its end when it has no operations', () => {
    expect(multiRecord([])).toEqual(END);
  });

  it.each([
    ['check', '0000000d'],
    ['delete', '00000002'],
  ] as const)('has a %s as a header and path and any version', (type, code) => {
    expect(multiRecord([{ type, path: '/a' }])).toEqual(
      Buffer.concat([bytes(code, '00', 'ffffffff', '00000002', text('/a'), 'ffffffff'), END]),
    );
  });

  it.each([
    ['check', '0000000d'],
    ['delete', '00000002'],
  ] as const)('has a %s of one version', (type, code) => {
    expect(multiRecord([{ type, path: '/a', version: 3 }])).toEqual(
      Buffer.concat([bytes(code, '00', 'ffffffff', '00000002', text('/a'), '00000003'), END]),
    );
  });

  it.each([
    [3, '00000003'],
    [undefined, 'ffffffff'],
  ])('has a setData as a header and path, data and version %s', (version, code) => {
    const data = Buffer.from('xy');
    expect(multiRecord([{ type: 'setData', path: '/a', data, version }])).toEqual(
      Buffer.concat([bytes('00000005', '00', 'ffffffff', '00000002', text('/a'), '00000002', text('xy'), code), END]),
    );
  });

  it.each([
    ['create', CreateMode.ephemeralSequential, '00000001'],
    ['create2', CreateMode.persistent, '0000000f'],
    ['createContainer', CreateMode.container, '00000013'],
  ] as const)('has a %s as a header and the record of a create', (type, flags, code) => {
    const data = Buffer.from('x');
    expect(multiRecord([{ type, path: '/a', data, acl, flags }])).toEqual(
      Buffer.concat([bytes(code, '00', 'ffffffff'), createRecord('/a', data, acl, flags), END]),
    );
  });

  it('has its operations in order', () => {
    const ops = [
      { type: 'check', path: '/a' },
      { type: 'delete', path: '/b' },
    ] as const;
    const alone = ops.map((op) => multiRecord([op]).subarray(0, -END.length));
    expect(multiRecord(ops)).toEqual(Buffer.concat([...alone, END]));
  });
});

describe('the results of a transaction', () => {
  it('are empty for no operations', () => {
    expect(resultsOf(END)).toEqual([]);
  });

  it('contain the real path of a created znode', () => {
    const created = path('/a/lock-0000000007');
    expect(
      resultsOf(
        applied(OpCode.create2, Buffer.concat([path('/a'), STAT])),
        applied(OpCode.create, created),
        applied(OpCode.check),
        applied(OpCode.delete),
        END,
      ),
    ).toEqual([
      { error: 0, path: '/a', stat: expect.objectContaining({ version: 0 }) },
      { error: 0, path: '/a/lock-0000000007' },
      { error: 0 },
      { error: 0 },
    ]);
  });

  it('contain the stat of a written znode', () => {
    const stat = Buffer.from(STAT);
    stat.writeInt32BE(7, 32);
    expect(resultsOf(applied(OpCode.setData, stat), applied(OpCode.check), END)).toEqual([
      { error: 0, stat: expect.objectContaining({ version: 7 }) },
      { error: 0 },
    ]);
  });

  it('report which operation was refused, and that the others were not applied', () => {
    const { ok, noNode, runtimeInconsistency } = ErrorCode;
    expect(resultsOf(refused(ok), refused(noNode), refused(runtimeInconsistency), END)).toEqual([
      { error: 0 },
      { error: -101 },
      { error: -2 },
    ]);
  });

  it('are not read beyond their end', () => {
    const reader = new JuteReader(Buffer.concat([applied(OpCode.check), END, bytes('0000002a')]));
    readMultiResults(reader);
    expect(reader.int()).toBe(42);
  });

  it.each([
    ['without an end', [applied(OpCode.check)]],
    ['in the middle of a result', [applied(OpCode.create).subarray(0, 5)]],
    ['in the middle of a stat', [applied(OpCode.create2, Buffer.concat([path('/a'), STAT.subarray(0, 30)]))]],
    ['at once', []],
  ])('are an error when they are cut %s', (_where, parts) => {
    expect(() => resultsOf(...parts)).toThrow(RangeError);
  });
});
