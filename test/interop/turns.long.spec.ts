import { randomUUID } from 'node:crypto';
import { describe, expect, inject, it } from 'vitest';
import { takeTurns } from './support/turns.js';
import type { Party } from './support/turns.js';

const connectString = inject('zookeeper');

// The long form is `npm run endurance -- turns`.
const SHORT = { connectString, alternations: 60, killAfter: 25 };
/** A session must expire after each kill, and each party starts a process. */
const LIMIT = { timeout: 240_000 };

describe('Node and Curator that alternate while one of them is killed now and then', () => {
  it('never hold a mutex at the same time, and never get stuck', LIMIT, async () => {
    const lock = { path: `/interop-${randomUUID()}`, kind: 'mutex' };
    const parties: Party[] = [
      { language: 'node', lock },
      { language: 'java', lock },
    ];
    const outcome = await takeTurns({ ...SHORT, parties });
    expect(outcome).toMatchObject({ overlaps: 0 });
    expect(outcome.kills).toBeGreaterThanOrEqual(1);
    expect(new Set(outcome.tenures.map(({ party }) => party))).toEqual(new Set([0, 1]));
  });

  it('never write while a reader holds the lock', LIMIT, async () => {
    const lock = { path: `/interop-${randomUUID()}`, kind: 'write' };
    const kinds = ['read', 'write'];
    const parties: Party[] = [
      { language: 'node', lock, kinds },
      { language: 'node', lock, kinds },
      { language: 'java', lock, kinds },
    ];
    expect(await takeTurns({ ...SHORT, parties })).toMatchObject({ overlaps: 0 });
  });

  it('would be detected if they locked different paths', async () => {
    const lock = () => ({ path: `/interop-${randomUUID()}`, kind: 'mutex' });
    const parties: Party[] = [
      { language: 'node', lock: lock() },
      { language: 'node', lock: lock() },
    ];
    const outcome = await takeTurns({ ...SHORT, alternations: 20, killAfter: Infinity, parties });
    expect(outcome.overlaps).toBeGreaterThan(0);
  });
});

it('Node and kazoo in Curator’s dialect never hold a mutex at the same time', async () => {
  const lock = { path: `/interop-${randomUUID()}`, kind: 'mutex' };
  const parties: Party[] = [
    { language: 'node', lock },
    { language: 'python', lock: { ...lock, kind: 'curator-named mutex' } },
  ];
  expect(await takeTurns({ ...SHORT, parties })).toMatchObject({ overlaps: 0 });
});
