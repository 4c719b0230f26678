import { describe, expect, it } from 'vitest';
import { LockUnavailableError } from '../../../../lib/contract/errors.js';
import { UNCHANGED } from '../../../../lib/contract/record-store.js';
import type { RecordChange } from '../../../../lib/contract/record-store.js';
import { opened, write } from './scripted-session.js';
import type { Event } from './scripted-session.js';

type Told = 'applied' | 'conflict' | 'unknown';

/** Resolves with the write's outcome, and with how often it was applied. */
async function lost(
  first: readonly RecordChange[],
  changes: readonly RecordChange[],
  fate: Event['fate'],
  others: readonly RecordChange[],
) {
  const session = await opened(first);
  session.play([{ fate, others }]);
  const told = await write(session, changes).then(
    ({ isApplied }): Told => (isApplied ? 'applied' : 'conflict'),
    (error: unknown): Told => (error instanceof LockUnavailableError ? 'unknown' : expect.unreachable(String(error))),
  );
  return { told, applied: session.applied, session };
}

const DONE = 'reply lost';
const NOT_DONE = 'lost on the way';

const beside: RecordChange = { name: 'a', value: 'before' };
const made: RecordChange = { name: 'c', value: 'before' };
const removed: RecordChange = { name: 'c', value: undefined };
const theirs: RecordChange = { name: 'c', value: 'theirs' };

const LEFT_ALONE: readonly RecordChange[] = [];
const REMOVED = [removed];
const WRITTEN = [theirs];
const MADE_ANEW = [removed, theirs];
const WRITTEN_TWICE = [theirs, theirs];

type Row = readonly [Event['fate'], string, readonly RecordChange[], Told, number];

describe('a create whose reply was lost', () => {
  it.each<Row>([
    [DONE, 'left alone', LEFT_ALONE, 'applied', 1],
    [DONE, 'removed', REMOVED, 'unknown', 1],
    [DONE, 'removed and made anew', MADE_ANEW, 'unknown', 1],
    [DONE, 'written', WRITTEN, 'unknown', 1],
    [NOT_DONE, 'left alone', LEFT_ALONE, 'applied', 1],
    [NOT_DONE, 'made', WRITTEN, 'unknown', 0],
    [NOT_DONE, 'made and removed', [theirs, removed], 'unknown', 0],
    [NOT_DONE, 'left alone, unlike its neighbour,', [{ name: 'b', value: 'theirs' }], 'unknown', 0],
  ])('%s, and %s by others', async (fate, _, others, told, applied) => {
    const create: RecordChange = { name: 'c', value: 'mine', ifVersion: 'absent' };
    expect(await lost([beside], [create], fate, others)).toMatchObject({ told, applied });
  });

  it.each([DONE, NOT_DONE] as const)('%s, is known to be refused where the record existed', async (fate) => {
    const create: RecordChange = { name: 'c', value: 'mine', ifVersion: 'absent' };
    expect(await lost([made], [create], fate, [])).toMatchObject({ told: 'conflict', applied: 0 });
  });
});

describe('a change under a version whose reply was lost', () => {
  it.each<Row>([
    [DONE, 'left alone', LEFT_ALONE, 'applied', 1],
    [DONE, 'written', WRITTEN, 'unknown', 1],
    [DONE, 'removed', REMOVED, 'unknown', 1],
    [DONE, 'removed and made anew, in the same version', MADE_ANEW, 'unknown', 1],
    [DONE, 'removed and made anew, in the next version', [...MADE_ANEW, theirs], 'unknown', 1],
    [NOT_DONE, 'left alone', LEFT_ALONE, 'applied', 1],
    [NOT_DONE, 'written', WRITTEN, 'conflict', 0],
    [NOT_DONE, 'written twice', WRITTEN_TWICE, 'unknown', 0],
    [NOT_DONE, 'removed', REMOVED, 'unknown', 0],
    [NOT_DONE, 'removed and made anew, in the same version', MADE_ANEW, 'unknown', 0],
    [NOT_DONE, 'removed and made anew, in the next version', [...MADE_ANEW, theirs], 'unknown', 0],
  ])('%s, and %s by others', async (fate, _, others, told, applied) => {
    const change: RecordChange = { name: 'c', value: 'mine', ifVersion: 0 };
    expect(await lost([made], [change], fate, others)).toMatchObject({ told, applied });
  });

  it.each([DONE, NOT_DONE] as const)('%s, is known to be refused where the version differed', async (fate) => {
    const change: RecordChange = { name: 'c', value: 'mine', ifVersion: 1 };
    expect(await lost([made], [change], fate, [])).toMatchObject({ told: 'conflict', applied: 0 });
  });
});

describe('a removal under a version whose reply was lost', () => {
  it.each<Row>([
    [DONE, 'left alone', LEFT_ALONE, 'unknown', 1],
    [DONE, 'made anew, in the same version', WRITTEN, 'unknown', 1],
    [DONE, 'made anew, in the next version', WRITTEN_TWICE, 'unknown', 1],
    [NOT_DONE, 'left alone', LEFT_ALONE, 'applied', 1],
    [NOT_DONE, 'written', WRITTEN, 'conflict', 0],
    [NOT_DONE, 'removed', REMOVED, 'unknown', 0],
    [NOT_DONE, 'removed and made anew', MADE_ANEW, 'unknown', 0],
  ])('%s, and %s by others', async (fate, _, others, told, applied) => {
    const removal: RecordChange = { name: 'c', value: undefined, ifVersion: 0 };
    const { session, ...outcome } = await lost([made], [removal], fate, others);
    expect(outcome).toEqual({ told, applied });
    // A removal must not delete what others have created.
    const isTheirs = others.at(-1) === theirs;
    if (isTheirs) expect(session.tree.read('/r/c').data.toString('utf8', 0, 6)).toBe('theirs');
  });
});

describe('a write of several records whose reply was lost', () => {
  const changes: RecordChange[] = [
    { name: 'a', value: 'mine', ifVersion: 0 },
    { name: 'c', value: 'mine', ifVersion: 'absent' },
  ];
  const anew: RecordChange[] = [
    { name: 'a', value: undefined },
    { name: 'a', value: 'theirs' },
  ];

  it.each<Row>([
    [DONE, 'one made anew, which the other tells', anew, 'applied', 1],
    [DONE, 'both made anew', [...anew, ...MADE_ANEW], 'unknown', 1],
    [NOT_DONE, 'one made, which the other tells', WRITTEN, 'conflict', 0],
    [NOT_DONE, 'left alone', LEFT_ALONE, 'applied', 1],
    [NOT_DONE, 'one made anew, and nothing else', anew, 'unknown', 0],
    [NOT_DONE, 'one made anew, the other made', [...anew, theirs], 'unknown', 0],
  ])('%s, and %s by others', async (fate, _, others, told, applied) => {
    expect(await lost([beside], changes, fate, others)).toMatchObject({ told, applied });
  });

  it('reports its own version of a record that others have written since', async () => {
    const session = await opened([{ name: 'a/b', value: 'below' }]);
    await write(session, [{ name: 'a', value: '1' }]);
    await write(session, [{ name: 'a', value: undefined }]);
    session.play([
      { fate: 'answered', others: [] },
      { fate: DONE, others: [{ name: 'a', value: 'theirs' }] },
    ]);
    const written = await write(session, [
      { name: 'a', value: 'mine', ifVersion: 'absent' },
      { name: 'c', value: 'mine', ifVersion: 'absent' },
    ]);
    // The znode was a directory in version 2.
    expect(written).toMatchObject({
      isApplied: true,
      records: [
        { name: 'a', version: 3 },
        { name: 'c', version: 0 },
      ],
    });
  });
});

describe('a write without conditions, or with conditions only', () => {
  it.each([DONE, NOT_DONE] as const)('%s, is repeated where it has no condition', async (fate) => {
    const { told, session } = await lost([made], [{ name: 'c', value: 'mine' }], fate, MADE_ANEW);
    expect(told).toBe('applied');
    expect(session.tree.read('/r/c').data.toString('utf8', 0, 4)).toBe('mine');
  });

  it.each<Row>([
    [DONE, 'left alone', LEFT_ALONE, 'applied', 0],
    [DONE, 'written', WRITTEN, 'conflict', 0],
    [NOT_DONE, 'removed', REMOVED, 'conflict', 0],
  ])('%s, and %s by others, is repeated', async (fate, _, others, told, applied) => {
    const check: RecordChange = { name: 'c', value: UNCHANGED, ifVersion: 0 };
    expect(await lost([made], [check], fate, others)).toMatchObject({ told, applied });
  });
});
