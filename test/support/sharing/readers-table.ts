/**
 * Every case in which readers of one process ask for a key: situation × verb × crowd × local queue.
 * A reader that may share a lease gets it, and is never refused because another contender has the key.
 */
import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { expect } from 'vitest';
import { LockTimeoutError } from '../../../lib/contract/errors.js';
import type { Lease } from '../../../lib/contract/lease.js';
import type { LockBackend } from '../../../lib/contract/lock-backend.js';
import type { Lock } from '../../../lib/contract/lock.js';
import { connectionOf, LockService } from '../../../lib/service/lock.service.js';
import type { SharingOptions } from '../../../lib/service/lock-service.options.js';
import { eventually } from '../eventually.js';

/** Two clients of one service, as in two processes. Both are the same one where the service is this process. */
export interface TwoBackends {
  readonly one: LockBackend;
  readonly other: LockBackend;
}

export interface Cell {
  readonly title: string;
  readonly run: (backends: TwoBackends) => Promise<void>;
}

type Verb = (lock: Lock) => Promise<Lease | null>;

interface Case extends TwoBackends {
  readonly key: string;
  readonly reader: Lock;
  readonly others: LockService;
  readonly verb: Verb;
  readonly count: number;
}

// Longer than a process passes a key among its own callers while another process waits.
const PAST_THE_BOUNDS_MS = 20;

const CROWDS = { 'the first': 1, 'a second': 2, 'a 300th in one turn': 300 };

const QUEUES: Readonly<Record<string, SharingOptions>> = {
  'a local queue': { localLine: true },
  'no local queue': { localLine: false },
  'a warm lease': { keepMs: 60_000 },
};

const VERBS: Readonly<Record<string, Verb>> = {
  acquire: (lock) => lock.acquire({ waitMs: Infinity }),
  tryAcquire: (lock) => lock.tryAcquire(),
  // The equivalent of `onContention: 'skip'` and `waitMs: 0`.
  skip: (lock) => lock.acquire({ waitMs: 0 }).catch(nullIfTimedOut),
};

const SITUATIONS: Readonly<Record<string, (stage: Case) => Promise<void>>> = {
  'the key is free': allRead,
  'a reader of this process is inside': async (stage) => {
    const inside = await readsFor(stage.reader);
    await allRead(stage);
    await inside.release();
  },
  'a reader of another process is inside': async (stage) => {
    const inside = await readsFor(stage.others.readWriteLock(stage.key).read);
    await allRead(stage);
    await inside.release();
  },
  'a writer of another process has waited and gone': async (stage) => {
    const inside = await readsFor(stage.reader);
    const writer = await writerWaits(stage);
    await pause(PAST_THE_BOUNDS_MS);
    await writer.giveUp();
    await allRead(stage);
    await inside.release();
  },
  'a writer of another process waits': nobodyOvertakes,
};

/** The whole table. */
export const READERS_TABLE: readonly Cell[] = Object.entries(SITUATIONS).flatMap(([situation, play]) =>
  Object.entries(QUEUES).flatMap(([queue, sharing]) =>
    Object.entries(VERBS).flatMap(([name, verb]) =>
      Object.entries(CROWDS).map(([crowd, count]) => ({
        title: `${situation}: ${crowd} asks by ${name}, with ${queue}`,
        run: (backends: TwoBackends) => playOn(backends, sharing, { verb, count }, play),
      })),
    ),
  ),
);

async function playOn(
  { one, other }: TwoBackends,
  sharing: SharingOptions,
  asking: Pick<Case, 'verb' | 'count'>,
  play: (stage: Case) => Promise<void>,
): Promise<void> {
  const options = { connectionName: 'table', waitMs: 60_000, drainTimeoutMs: 0, connectOnStart: 'required' } as const;
  const locks = new LockService(one, { ...options, ...sharing });
  const others = new LockService(other, { ...options, localLine: false });
  const key = `table/${randomUUID()}`;
  const { read: reader } = locks.readWriteLock(key);
  if (sharing.keepMs) await (await reader.acquire()).release();
  await play({ one, other, key, reader, others, ...asking });
  await connectionOf(locks).gate.local.giveUpKept();
  const left = await one.lineOf(key);
  expect(left).toEqual([]);
}

/** Expects that all of the crowd get a lease and hold it together. */
async function allRead({ reader, verb, count }: Case): Promise<void> {
  const leases = await Promise.all(Array.from({ length: count }, () => verb(reader)));
  expect(leases.filter((lease) => lease?.isHeld())).toHaveLength(count);
  await releaseAll(leases);
}

/** Expects that a crowd behind a writer waits for it, or is refused. */
async function nobodyOvertakes(stage: Case): Promise<void> {
  const { reader, verb, count } = stage;
  const inside = await readsFor(reader);
  const writer = await writerWaits(stage);
  await eventually(() => isRefused(reader), 'readers are refused while a writer waits');
  const asked = Promise.all(Array.from({ length: count }, () => verb(reader)));
  const waits = verb === VERBS['acquire'];
  if (!waits) expect(new Set(await asked)).toEqual(new Set([null]));
  await inside.release();
  const written = await writer.written;
  expect(written.isHeld()).toBe(true);
  await written.release();
  const leases = await asked;
  const tokens = leases.flatMap((lease) => (lease?.isHeld() ? [lease.fencingToken] : []));
  expect(tokens).toHaveLength(waits ? count : 0);
  expect(tokens.filter((token) => token < written.fencingToken)).toEqual([]);
  await releaseAll(leases);
}

async function readsFor(reader: Lock): Promise<Lease> {
  const lease = await reader.acquire();
  await pause(PAST_THE_BOUNDS_MS);
  return lease;
}

async function writerWaits({ one, others, key }: Case) {
  const leaving = new AbortController();
  const standing = (await one.lineOf(key)).length;
  const written = others.readWriteLock(key).write.acquire({ waitMs: Infinity, signal: leaving.signal });
  const settled = written.then(
    () => {},
    () => {},
  );
  await eventually(async () => (await one.lineOf(key)).length > standing, 'the writer waits');
  const giveUp = async () => {
    leaving.abort(new Error('gave up'));
    await settled;
  };
  return { written, giveUp };
}

async function isRefused(reader: Lock): Promise<boolean> {
  const lease = await reader.tryAcquire();
  await lease?.release();
  return lease === null;
}

async function releaseAll(leases: readonly (Lease | null)[]): Promise<void> {
  await Promise.all(leases.map((lease) => lease?.release()));
}

function nullIfTimedOut(error: unknown): null {
  if (error instanceof LockTimeoutError) return null;
  throw error;
}
