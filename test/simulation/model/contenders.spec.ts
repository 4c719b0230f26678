import { describe, expect, it } from 'vitest';
import type { Lifetime } from '../../../lib/testing/embedded/tree/znode.js';
import { hold } from '../../robustness/validate/records.js';
import { contendersOf } from './contenders.js';
import type { MadeZnode } from './contenders.js';
import { Znodes } from './znodes.js';

const znode = (name: string, czxid: bigint, special: Partial<MadeZnode> = {}): MadeZnode => ({
  path: `/locks/stock/_c_1234-${name}`,
  czxid,
  session: 'a1',
  madeAt: Number(czxid),
  ...special,
});

describe('the contenders of a run', () => {
  it('are the znodes of wait queues, with their mode and order', () => {
    const made = [
      znode('lock-0000000001', 7n, { goneAt: 9 }),
      znode('__READ__0000000002', 8n),
      znode('__WRIT__0000000003', 9n),
      znode('latch-0000000001', 10n),
      { ...znode('', 11n), path: '/locks/stock/lease-0000000001' },
    ];
    expect(contendersOf(made, [])).toMatchObject([
      { key: '/locks/stock', mode: 'exclusive', session: 'a1', order: 7n, madeAt: 7, goneAt: 9 },
      { mode: 'read', order: 8n },
      { mode: 'write', order: 9n },
      { mode: 'exclusive', order: 10n },
    ]);
  });

  it('were granted when the first hold of their process began', () => {
    const token = 7n << 16n;
    const holds = [
      hold({ key: 'stock', token: token + 1n, from: 30 }),
      hold({ key: 'stock', token, from: 20 }),
      hold({ key: 'stock', token: 8n << 16n, from: 5 }),
      hold({ key: 'prices', token, from: 1 }),
    ];
    expect(contendersOf([znode('lock-0000000001', 7n)], holds)).toMatchObject([{ grantedAt: 20, grants: [20, 30] }]);
    expect(contendersOf([znode('lock-0000000001', 9n)], holds)).toMatchObject([{ grantedAt: undefined }]);
  });

  it("of a semaphore's queue were not granted a lock with the name of that queue", () => {
    const gate = { ...znode('', 7n), path: '/locks/printers/locks/_c_1234-lock-0000000001' };
    const lock = { ...znode('', 7n), path: '/locks/printers/%6Cocks/_c_1234-lock-0000000001' };
    const granted = hold({ key: 'printers/locks', token: 7n << 16n, from: 20 });
    expect(contendersOf([gate, lock], [granted])).toMatchObject([
      { grantedAt: undefined, holds: [] },
      { grantedAt: 20, holds: [granted.id] },
    ]);
  });

  it('do not include a reader with the number of a writer, which had it before', () => {
    const made = [znode('__WRIT__0000000003', 7n, { goneAt: 12 }), znode('__READ__0000000003', 12n)];
    expect(contendersOf(made, [])).toMatchObject([{ mode: 'write', order: 7n }]);
    const another = znode('__READ__0000000003', 13n);
    expect(contendersOf([made[0]!, another], [])).toHaveLength(2);
  });
});

describe('the znodes of a run', () => {
  it('are the ephemeral ones, from their creation to their deletion', () => {
    const znodes = new Znodes();
    const create = (path: string, lifetime: Lifetime) =>
      ({ type: 'create', path, data: null, acl: [], lifetime }) as const;
    znodes.committed(7n, 5, [create('/a', { kind: 'ephemeral', owner: 0xa1n }), create('/b', { kind: 'persistent' })]);
    znodes.committed(8n, 6, [
      { type: 'delete', path: '/b' },
      { type: 'delete', path: '/a' },
    ]);
    znodes.committed(7n, 9, [create('/a', { kind: 'ephemeral', owner: 0xa1n })]);
    expect(znodes.made).toEqual([{ path: '/a', czxid: 7n, session: 'a1', madeAt: 5, goneAt: 6 }]);
  });
});
