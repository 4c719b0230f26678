import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { CreateMode } from '../../lib/zookeeper/client/zookeeper-client.js';
import { openClient } from '../support/znodes.js';
import { LockProgram } from './support/lock-program.js';
import type { Language } from './support/lock-program.js';

const connectString = inject('zookeeper');
const OPEN = [{ permissions: 31, scheme: 'world', id: 'anyone' }];
const SESSION_TIMEOUT_MS = 10_000;
// A lock that must not be granted has to be observed for this long.
const NOT_LET_IN_MS = 400;
const LET_IN_MS = 20_000;

/** A program and one kind of its locks: `java mutex`. */
type Side = `${Language} ${string}`;

/**
 * Both sides of a pair. `keepsOut`: the second is blocked while the first holds. `isKeptOut`: the first is blocked
 * while the second holds.
 */
type Pair = readonly [first: Side, second: Side, keepsOut: boolean, isKeptOut: boolean];

/** The promises of docs/interop.md. A lock whose names we do not write can only be excluded in one direction. */
const PAIRS: readonly Pair[] = [
  ['node mutex', 'java mutex', true, true],
  ['node mutex without a line', 'java mutex', true, true],
  ['node write', 'java write', true, true],
  ['node write', 'java read', true, true],
  ['node read', 'java write', true, true],
  ['node read', 'java read', false, false],
  // Ours counts all kinds of contenders; Curator's mutex and read-write lock only recognize their own.
  ['node mutex', 'java write', false, true],
  ['node mutex', 'java read', false, true],
  ['node write', 'java mutex', false, true],
  ['node read', 'java mutex', false, true],
  // Its znodes are one level below.
  ['node mutex', 'java semaphore mutex', false, false],
  ['node mutex', 'python curator-named mutex', true, true],
  // With `extra_lock_patterns` it recognizes our names, but writes names that only kazoo recognizes.
  ['node mutex', 'python configured mutex', true, false],
  ['node mutex', 'python mutex', false, false],
  ['node write', 'python write', false, false],
  ['java mutex', 'python curator-named mutex', true, true],
];

const programs = new Map<Language, LockProgram>();

beforeAll(() => {
  for (const language of ['node', 'java', 'python'] as const) {
    programs.set(language, new LockProgram(language, connectString, SESSION_TIMEOUT_MS));
  }
});
afterAll(() => Promise.all([...programs.values()].map((program) => program[Symbol.asyncDispose]())));

function on(side: Side, path: string) {
  const [language, ...kind] = side.split(' ') as [Language, ...string[]];
  const program = programs.get(language) ?? expect.unreachable();
  const lock = { path, kind: kind.join(' ') };
  return {
    acquire: (waitMs = LET_IN_MS) => program.acquire(lock, waitMs),
    release: () => program.release(lock),
  };
}

async function makeDirectory(path: string): Promise<void> {
  const client = await openClient(connectString);
  await client.create({ path, data: Buffer.alloc(0), acl: OPEN, mode: CreateMode.persistent });
}

/** @param expected whether the asker must be kept out: only then it gives up soon */
async function isKeptOut(asking: Side, holding: Side, expected: boolean): Promise<boolean> {
  const path = `/interop-${randomUUID()}`;
  // kazoo looks for the directory before it locks, and fails when the server has removed an empty one since.
  if ([asking, holding].some((side) => side.startsWith('python'))) await makeDirectory(path);
  const [holder, asker] = [on(holding, path), on(asking, path)];
  expect(await holder.acquire()).not.toBeNull();
  const isOut = (await asker.acquire(expected ? NOT_LET_IN_MS : LET_IN_MS)) === null;
  const heldUntil = await holder.release();
  if (!isOut) {
    await asker.release();
    return false;
  }
  // The blocked side is granted the lock afterwards, and then the other side again.
  const from = await asker.acquire();
  expect(from).toBeGreaterThan(heldUntil);
  await asker.release();
  expect(await holder.acquire()).not.toBeNull();
  await holder.release();
  return true;
}

describe('locks on one path', () => {
  it.each(PAIRS)('%s and %s: the first blocks the second: %s, the second blocks the first: %s', async (...pair) => {
    const [first, second, keepsOut, firstIsKeptOut] = pair;
    const found = [await isKeptOut(second, first, keepsOut), await isKeptOut(first, second, firstIsKeptOut)];
    expect(found).toEqual([keepsOut, firstIsKeptOut]);
  });

  it.each(['java mutex', 'java write', 'python curator-named mutex'] as const)(
    'are granted to us once the process of the holder has died: %s',
    async (side) => {
      const [language, ...kind] = side.split(' ') as [Language, ...string[]];
      const lock = { path: `/interop-${randomUUID()}`, kind: kind.join(' ') };
      await using dying = new LockProgram(language, connectString, 2_000);
      expect(await dying.acquire(lock, LET_IN_MS)).not.toBeNull();
      const ours = on(language === 'java' ? (`node ${lock.kind}` as Side) : 'node mutex', lock.path);
      const waiting = ours.acquire();
      await dying.process.kill();
      expect(await waiting).not.toBeNull();
      await ours.release();
    },
  );
});
