import { hostname } from 'node:os';
import { describe, expect, it } from 'vitest';
import {
  CONTENDER_MARKS,
  SEMAPHORE_PARTS,
  contenderData,
  contenderId,
  contenderOwner,
  isRevoked,
  revokedData,
  withoutMark,
  withoutPart,
} from '../../../../lib/zookeeper/recipes/contender-znode.js';

describe('the data of a contender', () => {
  it('contains host, process and label', () => {
    const data = JSON.parse(contenderData('nightly report', 'id-1').toString()) as unknown;
    expect(data).toEqual({ host: hostname(), pid: process.pid, label: 'nightly report', id: 'id-1' });
  });

  it('omits unknown fields', () => {
    expect(Object.keys(JSON.parse(contenderData().toString()) as object)).toEqual(['host', 'pid']);
  });

  it('returns the id', () => {
    expect(contenderId(contenderData('label', 'id-1'))).toBe('id-1');
    expect(contenderId(contenderData('label'))).toBeUndefined();
  });

  it.each(['', '127.0.0.1', '__REVOKE__', 'null', '5', '"text"', '[]', '{', '{}'])(
    'has no id when it is %j',
    (text) => {
      expect(contenderId(Buffer.from(text))).toBeUndefined();
    },
  );
});

describe('the data that revokes a holder', () => {
  it('is Curator’s own word for a foreign holder, whatever its znode contained', () => {
    for (const data of ['', '127.0.0.1', '{"host":"a"}', '[1]', '\u0000']) {
      expect(revokedData(Buffer.from(data)).toString()).toBe('__REVOKE__');
    }
  });

  it('keeps the owner of a contender of this package', () => {
    const data = revokedData(contenderData('Orders.place', 'the id', true));
    expect(contenderOwner(data)).toEqual({ ...contenderOwner(contenderData('Orders.place')), isKept: true });
    expect(contenderId(data)).toBe('the id');
  });

  it('is recognised in both forms, and no other data is', () => {
    expect(isRevoked(revokedData(contenderData('x')))).toBe(true);
    expect(isRevoked(revokedData(Buffer.from('127.0.0.1')))).toBe(true);
    for (const data of ['', '__REVOKE__ ', 'unlock', '{"isRevoked":"no"}', 'null', '127.0.0.1']) {
      expect(isRevoked(Buffer.from(data))).toBe(false);
    }
    expect(isRevoked(contenderData('x'))).toBe(false);
  });

  it('names no owner when it is Curator’s word', () => {
    expect(contenderOwner(Buffer.from('__REVOKE__'))).toMatchObject({ host: undefined, pid: undefined, isKept: false });
  });
});

describe('the names that are encoded in keys', () => {
  // A change of these lists moves keys to other paths, so that two neighbouring versions would not exclude each other.
  it.each([
    ['locks', '%6Cocks'],
    ['leases', '%6Ceases'],
    ['permits', '%70ermits'],
    ['turnstile', 'turnstile'],
  ])('are the parts of a semaphore, and no others: %s', (name, encoded) => {
    expect(withoutPart(name)).toBe(encoded);
    expect(Object.values(SEMAPHORE_PARTS)).toHaveLength(3);
  });

  it('are those with the marks of contenders, permits, items and kazoo, and no others', () => {
    const marks = ['lock-', '__WRIT__', '__READ__', 'latch-', 'lease-', '__lock__', '__rlock__', 'queue-'];
    const named = marks.map((mark) => `${mark}0000000007`);
    expect(named.filter((name) => withoutMark(name) === name)).toEqual([]);
    expect(withoutMark('turnstile-0000000007')).toBe('turnstile-0000000007');
    expect(Object.values(CONTENDER_MARKS)).toHaveLength(4);
  });
});
