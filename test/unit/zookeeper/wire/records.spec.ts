import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ErrorCode, errorName, CreateMode, OpCode } from '../../../../lib/zookeeper/wire/codes.js';
import { JuteReader, JuteWriter } from '../../../../lib/zookeeper/wire/jute.js';
import {
  createRecord,
  FrameSplitter,
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

const framed = (payload: Uint8Array) => {
  const length = Buffer.alloc(4);
  length.writeInt32BE(payload.length);
  return Buffer.concat([length, payload]);
};

/** The bytes, cut at the given places. */
function cut(bytes: Buffer, places: readonly number[]): Buffer[] {
  const ends = [...places.map((place) => place % (bytes.length + 1)), bytes.length].toSorted((a, b) => a - b);
  return ends.map((end, index) => bytes.subarray(ends[index - 1] ?? 0, end));
}

describe('a stream of frames', () => {
  const payloads = fc.array(fc.uint8Array({ maxLength: 50 }), { maxLength: 10 });

  it('gives the same frames however the chunks are cut', () => {
    fc.assert(
      fc.property(payloads, fc.array(fc.nat({ max: 1_000 }), { maxLength: 20 }), (contents, places) => {
        const splitter = new FrameSplitter();
        const chunks = cut(Buffer.concat(contents.map(framed)), places);
        const frames = chunks.flatMap((chunk) => splitter.push(Buffer.from(chunk)));
        expect(frames.map((frame) => [...frame])).toEqual(contents.map((content) => [...content]));
      }),
      { numRuns: 500 },
    );
  });

  it('gives the same frames byte by byte', () => {
    const splitter = new FrameSplitter();
    const bytes = Buffer.concat([Buffer.from('one'), Buffer.alloc(0), Buffer.from('three')].map(framed));
    const frames = [...bytes].flatMap((byte) => splitter.push(Buffer.from([byte])));
    expect(frames.map(String)).toEqual(['one', '', 'three']);
  });

  it('returns a frame with the chunk that completes it, and not before', () => {
    const splitter = new FrameSplitter();
    const bytes = framed(Buffer.from('four'));
    expect(splitter.push(bytes.subarray(0, 7))).toEqual([]);
    expect(splitter.push(bytes.subarray(7)).map(String)).toEqual(['four']);
    expect(splitter.push(Buffer.alloc(0))).toEqual([]);
  });
});

describe('a frame of an impossible length', () => {
  it.each([
    ['ffffffff', -1],
    ['80000000', -(2 ** 31)],
    ['04000001', 64 * 1024 * 1024 + 1],
    ['48545401', 0x48545401],
  ])('is refused as soon as the length is complete: %s', (hex, length) => {
    const splitter = new FrameSplitter();
    const bytes = Buffer.from(hex, 'hex');
    expect(splitter.push(bytes.subarray(0, 3))).toEqual([]);
    expect(() => splitter.push(bytes.subarray(3))).toThrow(new RangeError(`a frame of ${length} bytes`));
  });

  it.each([
    [
      'an HTTP server',
      Buffer.from('HTTP/1.1 400 Bad Request'),
      'the answer begins with "HTTP": the port is not that of a',
    ],
    ['Redis', Buffer.from('-ERR unknown command'), 'the answer begins with "-ERR": the port is not that of a'],
    ['a server with TLS', Buffer.from('15030300020246', 'hex'), 'the server speaks TLS: set the tls option'],
  ])('is reported as %s that answers', (_who, bytes, message) => {
    expect(() => new FrameSplitter().push(bytes)).toThrow(message);
  });

  it('has more than 64 MB', () => {
    expect(new FrameSplitter().push(Buffer.from('04000000', 'hex'))).toEqual([]);
  });

  it('is refused after a valid frame, too', () => {
    const bytes = Buffer.concat([framed(Buffer.from('good')), Buffer.from('ffffffff', 'hex')]);
    expect(() => new FrameSplitter().push(bytes)).toThrow(RangeError);
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
