import type { ContenderId } from './contenders/contender.js';

interface ShapeBase {
  readonly id: string;
  readonly title: string;
  readonly contenders: readonly ContenderId[];
  /** The contender whose figures are 1 in the column of ratios. */
  readonly reference: ContenderId;
  /** The number of ZooKeeper servers: one, or an ensemble. */
  readonly nodes: 1 | 3;
}

/** Processes with several callers each, which acquire and release as fast as they can. */
export interface LoopShape extends ShapeBase {
  readonly kind: 'loop';
  readonly processes: number;
  /** The number of callers per process. */
  readonly callers: number;
  /** One key for all callers, one per caller, or a new one for each acquisition. */
  readonly keys: 'one' | 'own' | 'new';
  /** The pause of a caller between two acquisitions. */
  readonly pauseMs: number;
  /** The delay of the network each way. `undefined`: processes are connected directly. */
  readonly linkMs: number | undefined;
  readonly insideMs: number;
  /** The share of the acquisitions that only read. */
  readonly readShare: number;
  /** The share of the usual window that this shape gets. A shorter window has a shorter warm-up, too. */
  readonly timeShare: number;
}

/** Waiters of one process on one held key, which then all get it. */
export interface QueueShape extends ShapeBase {
  readonly kind: 'queue';
  readonly callers: number;
}

/** A process acquires and releases a key, and then another one requests it. */
export interface TakeOverShape extends ShapeBase {
  readonly kind: 'take-over';
  readonly times: number;
}

/** The first acquisitions of a new process. */
export interface FirstShape extends ShapeBase {
  readonly kind: 'first';
  readonly times: number;
}

export type Shape = LoopShape | QueueShape | TakeOverShape | FirstShape;

/** The local queue on and off, and the lock that most goals are multiples of. */
const BESIDE_CURATOR: readonly ContenderId[] = ['ours', 'ours-strict', 'curator'];
const ON_ZOOKEEPER: readonly ContenderId[] = [...BESIDE_CURATOR, 'kazoo'];
const ON_ONE_REDIS: readonly ContenderId[] = ['redis-semaphore', 'redlock'];
/** Where the local queue changes nothing. */
const LIBRARIES: readonly ContenderId[] = ['ours', 'curator', 'kazoo'];
/** The requests that one caller needs, and two scripts alone: the bounds of a lock that is made of scripts. */
const FLOORS_OF_REDIS: readonly ContenderId[] = ['floor-redis', 'floor-redis-head', 'floor-redis-lock'];
const ON_REDIS: readonly ContenderId[] = ['ours-redis', 'redis-semaphore'];
/** Beside the same lock on ZooKeeper: one server each, and each waits for the disk. */
const ON_ETCD: readonly ContenderId[] = ['ours-etcd', 'etcd3', 'ours'];
/** Without kazoo: in its 2.8.0 a reader also waits for the writers behind it, which wait for that reader, for ever. */
const READERS: readonly ContenderId[] = ['ours', 'ours-strict', 'curator-read-write'];

const COLD: readonly ContenderId[] = ['plain-recipe', ...LIBRARIES];
/** The delay of a link, each way. */
const FAR_MS = 1;
/** A caller that comes ten times a second finds its own code, and all caches, cold. */
const SELDOM = { pauseMs: 100 };

/** The defaults of a shape: one caller that takes one key. */
export const LOOP: Omit<LoopShape, 'id' | 'title'> = {
  kind: 'loop',
  nodes: 1,
  contenders: BESIDE_CURATOR,
  reference: 'curator',
  processes: 1,
  callers: 1,
  keys: 'one',
  pauseMs: 0,
  linkMs: undefined,
  insideMs: 0,
  readShare: 0,
  timeShare: 1,
};

/**
 * A shape has the contenders of its goals (`report/claims.ts`), of the documentation's sentences and of its charts. Each
 * further one makes a full run 6 to 60 seconds longer. `test/unit/bench/plan.spec.ts` limits its length.
 */
export const SHAPES: readonly Shape[] = [
  loop('1x1', 'One caller, one key', {
    contenders: ['floor', ...LIBRARIES, ...ON_ONE_REDIS, 'redis-semaphore-fsync', 'etcd3'],
  }),
  loop('kept', 'A key that the same caller had last', {
    contenders: ['ours', 'ours-kept', 'curator'],
    // More acquisitions would need more memory without giving more information.
    timeShare: 0.25,
  }),
  loop('64-keys', '64 callers of one process, a key each', {
    contenders: ['floor', ...LIBRARIES, ...ON_ONE_REDIS],
    callers: 64,
    keys: 'own',
  }),
  loop('1x16', 'One key, 1 process, 16 callers', { callers: 16 }),
  loop('4x1', 'One key, 4 processes, a caller each', { contenders: ['plain-recipe', ...ON_ZOOKEEPER], processes: 4 }),
  loop('4x16', 'One key, 4 processes, 16 callers each', {
    contenders: [...ON_ZOOKEEPER, 'curator-shared', 'curator-semaphore', ...ON_ONE_REDIS, 'redis-semaphore-fsync'],
    processes: 4,
    callers: 16,
  }),
  loop('16x1', 'One key, 16 processes, a caller each', {
    contenders: ['plain-recipe', ...ON_ZOOKEEPER],
    processes: 16,
  }),
  loop('1x1-cold', 'One caller, one key, 100 ms after the last time', { contenders: COLD, ...SELDOM }),
  loop('16x1-cold', 'One key, 16 processes, a caller each, 100 ms after its last time', {
    contenders: COLD,
    processes: 16,
    ...SELDOM,
  }),
  {
    kind: 'first',
    id: 'first-ten',
    title: 'The first ten acquisitions of a process',
    nodes: 1,
    contenders: ['plain-recipe', 'ours', 'curator'],
    reference: 'curator',
    times: 10,
  },
  loop('1x1-new', 'One caller, each key used once', { contenders: LIBRARIES, keys: 'new' }),
  loop('64-new', '64 callers of one process, each key used once', {
    contenders: LIBRARIES,
    callers: 64,
    keys: 'new',
  }),
  far('far-1x1', 'A link of 1 ms: one caller, one key', { contenders: ['plain-recipe', 'ours', 'curator'] }),
  far('far-4x1', 'A link of 1 ms: one key, 4 processes, a caller each', { processes: 4 }),
  far('far-16x1', 'A link of 1 ms: one key, 16 processes, a caller each', { processes: 16 }),
  loop('resets', 'One key, 4 processes, a caller each, links that are reset every 50 to 500 ms', {
    contenders: ['ours', 'ours-reset'],
    reference: 'ours',
    processes: 4,
    linkMs: 0,
  }),
  loop('16x16', 'One key, 16 processes, 16 callers each', {
    processes: 16,
    callers: 16,
  }),
  loop('2ms', 'One key, 4 processes, 4 callers each, 2 ms inside', {
    contenders: [...ON_ZOOKEEPER, ...ON_ONE_REDIS],
    processes: 4,
    callers: 4,
    insideMs: 2,
  }),
  loop('reads', 'One key, 4 processes, 16 callers each, 95 % reads', {
    contenders: READERS,
    reference: 'curator-read-write',
    processes: 4,
    callers: 16,
    readShare: 0.95,
  }),
  queue('1000-waiters', '1,000 waiters of one process on one key', 1_000, BESIDE_CURATOR),
  queue('10000-waiters', '10,000 waiters of one process on one key', 10_000, ['ours', 'ours-strict']),
  {
    kind: 'take-over',
    id: 'take-over',
    title: 'A key that another process had last',
    nodes: 1,
    contenders: ['ours', 'ours-kept', 'curator'],
    reference: 'curator',
    times: 100,
  },
  onRedis('redis-1x1', 'Redis: one caller, one key', {
    contenders: [...FLOORS_OF_REDIS, 'ours-redis-strict', ...ON_REDIS],
  }),
  onRedis('redis-64-keys', 'Redis: 64 callers of one process, a key each', {
    contenders: ['floor-redis-head', 'ours-redis-strict', ...ON_REDIS],
    callers: 64,
    keys: 'own',
  }),
  onRedis('redis-4x1', 'Redis: one key, 4 processes, a caller each', {
    contenders: ['floor-redis-queue', 'floor-redis-lock', ...ON_REDIS],
    processes: 4,
  }),
  onRedis('redis-4x16', 'Redis: one key, 4 processes, 16 callers each', {
    contenders: ['floor-redis-lock', 'ours-redis-strict', ...ON_REDIS],
    processes: 4,
    callers: 16,
  }),
  onRedis('redis-2ms', 'Redis: one key, 4 processes, 4 callers each, 2 ms inside', {
    processes: 4,
    callers: 4,
    insideMs: 2,
  }),
  onEtcd('etcd-1x1', 'etcd: one caller, one key', { contenders: ['floor-etcd', ...ON_ETCD] }),
  onEtcd('etcd-64-keys', 'etcd: 64 callers of one process, a key each', { callers: 64, keys: 'own' }),
  onEtcd('etcd-4x1', 'etcd: one key, 4 processes, a caller each', { processes: 4 }),
  onEtcd('etcd-4x16', 'etcd: one key, 4 processes, 16 callers each', {
    contenders: ['ours-etcd-strict', 'ours-strict', ...ON_ETCD],
    processes: 4,
    callers: 16,
    // With the queue in the order of arrival, the 64 callers come in turn: two and a half rounds are no even share.
    timeShare: 5,
  }),
  onEtcd('etcd-2ms', 'etcd: one key, 4 processes, 4 callers each, 2 ms inside', {
    processes: 4,
    callers: 4,
    insideMs: 2,
  }),
  ensemble('3-nodes-1x1', 'Three nodes: one caller, one key', { contenders: ['floor', ...LIBRARIES] }),
  ensemble('3-nodes-64-keys', 'Three nodes: 64 callers of one process, a key each', {
    callers: 64,
    keys: 'own',
  }),
  ensemble('3-nodes-4x1', 'Three nodes: one key, 4 processes, a caller each', {
    contenders: COLD,
    processes: 4,
  }),
  ensemble('3-nodes-4x16', 'Three nodes: one key, 4 processes, 16 callers each', {
    contenders: ON_ZOOKEEPER,
    processes: 4,
    callers: 16,
  }),
  ensemble('3-nodes-16x1', 'Three nodes: one key, 16 processes, a caller each', {
    contenders: ['ours', 'curator'],
    processes: 16,
  }),
  ensemble('3-nodes-2ms', 'Three nodes: one key, 4 processes, 4 callers each, 2 ms inside', {
    processes: 4,
    callers: 4,
    insideMs: 2,
  }),
  ensemble('3-nodes-reads', 'Three nodes: one key, 4 processes, 16 callers each, 95 % reads', {
    contenders: READERS,
    reference: 'curator-read-write',
    processes: 4,
    callers: 16,
    readShare: 0.95,
  }),
];

/** The part of `--quick`: one caller in each of many processes, near and far, beside Curator and the plain recipe. */
export const QUICK = {
  shapes: ['1x1', '4x1', '16x1', '16x1-cold', '1x1-new', '64-new', 'far-4x1', 'far-16x1', 'resets', '4x16'],
  contenders: ['plain-recipe', 'ours', 'ours-strict', 'ours-reset', 'curator'],
} as const satisfies { readonly shapes: readonly string[]; readonly contenders: readonly ContenderId[] };

/** Returns the same shape with few of everything, enough to check that it runs. */
export function shortened(shape: Shape): Shape {
  switch (shape.kind) {
    case 'loop':
      return { ...shape, processes: Math.min(2, shape.processes), callers: Math.min(4, shape.callers) };
    case 'queue':
      return { ...shape, callers: shape.callers / 200 };
    case 'take-over':
    case 'first':
      return { ...shape, times: 5 };
  }
}

function loop(id: string, title: string, fields: Partial<LoopShape>): LoopShape {
  return { ...LOOP, ...fields, id, title };
}

function far(id: string, title: string, fields: Partial<LoopShape>): LoopShape {
  return loop(id, title, { contenders: COLD, ...fields, linkMs: FAR_MS });
}

function ensemble(id: string, title: string, fields: Partial<LoopShape>): LoopShape {
  return loop(id, title, { ...fields, nodes: 3 });
}

function onRedis(id: string, title: string, fields: Partial<LoopShape>): LoopShape {
  return loop(id, title, { contenders: ON_REDIS, reference: 'redis-semaphore', ...fields });
}

function onEtcd(id: string, title: string, fields: Partial<LoopShape>): LoopShape {
  return loop(id, title, { contenders: ON_ETCD, reference: 'etcd3', ...fields });
}

function queue(id: string, title: string, callers: number, contenders: readonly ContenderId[]): QueueShape {
  const reference = contenders.includes('curator') ? 'curator' : 'ours-strict';
  return { kind: 'queue', id, title, nodes: 1, contenders, reference, callers };
}
