import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { setWatchesBodies } from '../../../../lib/zookeeper/client/set-watches.js';
import { JuteReader } from '../../../../lib/zookeeper/wire/jute.js';

const SERVER_LIMIT = 1_048_575;

/** What a server reads from the body: {long relativeZxid; data, exist and child watches}. */
function parsed(body: Buffer) {
  const reader = new JuteReader(body);
  const paths = () => reader.vector(() => reader.string());
  return { zxid: reader.long(), data: paths(), exist: paths(), child: paths() };
}

describe('setting watches again', () => {
  it('needs no request when there are none', () => {
    expect(setWatchesBodies(5n, [])).toEqual([]);
  });

  it('asks for data watches only, for what changed after the zxid last seen', () => {
    const bodies = setWatchesBodies(0x1_0000_0002n, ['/a', '/b/中']);
    expect(bodies.map(parsed)).toEqual([{ zxid: 0x1_0000_0002n, data: ['/a', '/b/中'], exist: [], child: [] }]);
  });

  it('takes as many requests as the server’s limit makes necessary, each with the zxid', () => {
    const paths = Array.from({ length: 5_000 }, (_, number) => `/${'x'.repeat(500)}/${number}`);
    const bodies = setWatchesBodies(9n, paths);
    expect(bodies.length).toBeGreaterThan(20);
    expect(Math.max(...bodies.map(({ length }) => length))).toBeLessThan(SERVER_LIMIT / 8);
    expect(bodies.map((body) => parsed(body).zxid)).toEqual(bodies.map(() => 9n));
    expect(bodies.flatMap((body) => parsed(body).data)).toEqual(paths);
  });

  it('counts bytes and not letters', () => {
    const paths = Array.from({ length: 300 }, (_, number) => `/${'中'.repeat(1_000)}/${number}`);
    const bodies = setWatchesBodies(9n, paths);
    expect(Math.max(...bodies.map(({ length }) => length))).toBeLessThan(SERVER_LIMIT / 8);
  });

  it('loses no path and adds none, in order, and makes no empty request', () => {
    const path = fc.oneof(
      fc.string({ unit: 'grapheme' }),
      fc.nat({ max: 60_000 }).map((length) => 'x'.repeat(length)),
    );
    fc.assert(
      fc.property(fc.array(path, { maxLength: 30 }), (paths) => {
        const batches = setWatchesBodies(1n, paths).map((body) => parsed(body).data);
        expect(batches.flat()).toEqual(paths);
        expect(batches.filter((batch) => batch.length === 0)).toEqual([]);
      }),
    );
  });
});
