import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { READ_CELL, WRITE_CELL } from '../../lib/redis/scripts/coordination-scripts.js';
import { ACQUIRE, FORCE } from '../../lib/redis/scripts/lock-scripts.js';
import { READ_RECORDS, WRITE_RECORDS } from '../../lib/redis/scripts/record-scripts.js';
import { RedisKeys } from '../../lib/redis/session/redis-keys.js';
import { RedisServer } from '../../lib/testing/index.js';
import { linkTo, ScriptSession } from './support/script-session.js';

const GRANTED = expect.any(Number);
const HELD = ['g', GRANTED, 0];

let server: RedisServer;
let keys: RedisKeys;
let join: () => Promise<ScriptSession>;

beforeAll(async () => {
  server = await RedisServer.start();
});
afterAll(() => server.stop());

beforeEach(async () => {
  const link = await linkTo(server.url);
  keys = new RedisKeys(`test/${randomUUID()}`);
  join = () => new ScriptSession(link, keys).join();
});

describe('a set that is asked for again, after another session took one of its keys by force', () => {
  it.each(['k1', 'k2'] as const)('namely %s: the set is refused, and the other key is free', async (taken) => {
    const queues = { k1: keys.queue('lock', 'k1'), k2: keys.queue('lock', 'k2') };
    const all = [...queues.k1, ...queues.k2];
    const [one, other] = [await join(), await join()];
    const own = { k1: one.entry(), k2: one.entry() };
    const theirs = other.entry();
    const first = await one.run(ACQUIRE, all, '0', '0', own.k1, own.k2);
    expect(first).toEqual(['POSITIONS', HELD, HELD]);
    const [, k1, k2] = first as [string, [string, number], [string, number]];
    await other.run(FORCE, queues[taken], { k1, k2 }[taken][1]);
    expect(await other.run(ACQUIRE, queues[taken], '0', '0', theirs)).toEqual(GRANTED);

    expect(await one.run(ACQUIRE, all, '0', '1', own.k1, own.k2)).toEqual(['REFUSED', 0]);

    const holders = { k1: '*0\r\n', k2: '*0\r\n', [taken]: expect.stringMatching(/^\*1\r\n/) };
    const found = async (key: 'k1' | 'k2') => server.ask('ZRANGE', queues[key][0], '0', '-1');
    expect({ k1: await found('k1'), k2: await found('k2') }).toEqual(holders);
    expect(await found(taken)).toContain(theirs);
  });
});

describe('a write that the next session has repeated, and whose first run comes late', () => {
  const MS = 600_000;
  const TIME = expect.any(String);

  it('of a value: it is not applied over that of others', async () => {
    const cell = [keys.of('cell', 'k'), keys.applied];
    const [former, next, other] = [await join(), await join(), await join()];
    await next.run(WRITE_CELL, cell, 'X', MS, '', 'set', 'a');
    await other.run(WRITE_CELL, cell, 'Y', MS, '', 'set', 'b');
    expect(await former.run(WRITE_CELL, cell, 'X', MS, '', 'set', 'a')).toEqual(['APPLIED', '']);
    expect(await other.run(READ_CELL, cell.slice(0, 1))).toEqual(['CELL', 'b', '1', TIME]);
  });

  it('of a record: it is not applied over that of others', async () => {
    const record = [keys.of('n', ''), keys.applied, keys.of('r', 'k')];
    const [former, next, other] = [await join(), await join(), await join()];
    await next.run(WRITE_RECORDS, record, 'X', MS, 'k', '', 'set', 'a');
    await other.run(WRITE_RECORDS, record, 'Y', MS, 'k', '', 'set', 'b');
    const late = await former.run(WRITE_RECORDS, record, 'X', MS, 'k', '', 'set', 'a');
    expect(late).toEqual(['APPLIED', TIME, '']);
    expect(await other.run(READ_RECORDS, record)).toEqual(['READ', ['b', '1', TIME]]);
  });
});
