import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { FrameSplitter } from '../../../../lib/zookeeper/wire/frame-splitter.js';

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
