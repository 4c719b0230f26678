import { describe, expect, it } from 'vitest';
import { ErrorCode, errorName, CreateMode, OpCode } from '../../../../lib/zookeeper/wire/codes.js';
import { JuteReader, JuteWriter } from '../../../../lib/zookeeper/wire/jute.js';
import {
  createRecord,
  pathRecord,
  versionRecord,
  pathWatchRecord,
  readReplyHeader,
  readStat,
  readWatcherEvent,
  removeWatchesRecord,
  REPLY_HEADER_BYTES,
  requestFrame,
  setWatchesRecord,
} from '../../../../lib/zookeeper/wire/records.js';

const bytes = (...parts: string[]) => Buffer.from(parts.join(''), 'hex');
const text = (ascii: string) => Buffer.from(ascii).toString('hex');

describe('the records of requests, byte by byte', () => {
  it('create: path, data, access list, flags', () => {
    const acl = [{ permissions: 31, scheme: 'world', id: 'anyone' }];
    const record = createRecord('/a', Buffer.from('xy'), acl, CreateMode.ephemeralSequential);
    const entry = ['0000001f', '00000005', text('world'), '00000006', text('anyone')];
    expect(record).toEqual(bytes('00000002', text('/a'), '00000002', text('xy'), '00000001', ...entry, '00000003'));
  });

  it('create: several entries in the access list, and no data', () => {
    const acl = [
      { permissions: 1, scheme: 'ip', id: 'b' },
      { permissions: 16, scheme: 'auth', id: '' },
    ];
    const first = ['00000001', '00000002', text('ip'), '00000001', text('b')];
    const second = ['00000010', '00000004', text('auth'), '00000000'];
    expect(createRecord('/a', Buffer.alloc(0), acl, CreateMode.container)).toEqual(
      bytes('00000002', text('/a'), '00000000', '00000002', ...first, ...second, '00000004'),
    );
  });

  it.each([
    ['delete and check: path, any version', versionRecord('/a'), ['00000002', text('/a'), 'ffffffff']],
    ['getData and getChildren2: path, watch', pathWatchRecord('/a', true), ['00000002', text('/a'), '01']],
    ['the same without a watch', pathWatchRecord('/a', false), ['00000002', text('/a'), '00']],
    ['sync: path', pathRecord('/a'), ['00000002', text('/a')]],
    ['removeWatches: path, type', removeWatchesRecord('/a', 2), ['00000002', text('/a'), '00000002']],
    [
      'setWatches: zxid, data watches, no others',
      setWatchesRecord(0x102n, ['/a', '/b'], 'data'),
      ['0000000000000102', '00000002', '00000002', text('/a'), '00000002', text('/b'), '00000000', '00000000'],
    ],
    [
      'setWatches: zxid, no data watches, no others, who the children are',
      setWatchesRecord(0x102n, ['/a', '/b'], 'children'),
      ['0000000000000102', '00000000', '00000000', '00000002', '00000002', text('/a'), '00000002', text('/b')],
    ],
  ])('%s', (_what, record, parts) => {
    expect(record).toEqual(bytes(...parts));
  });

  it('a request: length of the rest, number, type, body', () => {
    expect(requestFrame(3, OpCode.sync, bytes('0102'))).toEqual(bytes('0000000a', '00000003', '00000009', '0102'));
  });

  it('a ping: no body, and the number -2', () => {
    expect(requestFrame(-2, OpCode.ping, Buffer.alloc(0))).toEqual(bytes('00000008', 'fffffffe', '0000000b'));
  });
});

describe('the records of replies, byte by byte', () => {
  it('header: number, zxid, error', () => {
    const header = bytes('00000005', '0000000100000002', 'ffffff9b');
    expect(header).toHaveLength(REPLY_HEADER_BYTES);
    expect(readReplyHeader(header)).toEqual({ xid: 5, zxid: 0x1_0000_0002n, error: ErrorCode.noNode });
  });

  it('header of a notification', () => {
    expect(readReplyHeader(bytes('ffffffff', 'ffffffffffffffff', '00000000'))).toEqual({
      xid: -1,
      zxid: -1n,
      error: 0,
    });
  });

  it('stat: 68 bytes, and nothing read after them', () => {
    const longs = ['0000000000000001', '0000000000000002', '0000000000000003', '0000000000000004'];
    const ints = ['00000005', '00000006', '00000007'];
    const stat = bytes(...longs, ...ints, '1000000000000008', '00000009', '0000000a', '000000000000000b');
    expect(stat).toHaveLength(68);
    const reader = new JuteReader(Buffer.concat([stat, bytes('0000002a')]));
    expect(readStat(reader)).toEqual({
      czxid: 1n,
      mzxid: 2n,
      ctime: 3n,
      mtime: 4n,
      version: 5,
      cversion: 6,
      aversion: 7,
      ephemeralOwner: 0x1000_0000_0000_0008n,
      dataLength: 9,
      numChildren: 10,
      pzxid: 11n,
    });
    expect(reader.int()).toBe(42);
  });

  it('watcher event: type, state, path', () => {
    const event = new JuteReader(bytes('00000002', '00000003', '00000002', text('/a')));
    expect(readWatcherEvent(event)).toEqual({ type: 2, path: '/a' });
  });

  it.each([
    ['header', (frame: Buffer) => readReplyHeader(frame)],
    ['stat', (frame: Buffer) => readStat(new JuteReader(frame))],
    ['event', (frame: Buffer) => readWatcherEvent(new JuteReader(frame))],
  ])('a truncated %s is an error', (_what, read) => {
    expect(() => read(new JuteWriter().int(1).int(2).toBuffer())).toThrow(RangeError);
  });
});

describe('errorName', () => {
  it.each([
    [0, 'ok'],
    [-4, 'connectionLoss'],
    [-101, 'noNode'],
    [-110, 'nodeExists'],
    [-112, 'sessionExpired'],
    [-118, 'sessionMoved'],
    [-1_234, 'code -1234'],
  ])('of %i is %s', (code, name) => {
    expect(errorName(code)).toBe(name);
  });
});
