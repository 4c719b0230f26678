import type { ContenderId } from '../contenders/contender.js';
import { CONTENDERS } from '../contenders/contenders.js';
import type { Figure } from './summary.js';

/** A requirement on the medians of one run. */
export interface Claim {
  readonly shape: string;
  readonly contender: ContenderId;
  readonly figure: Figure;
  /** The contender whose figure is the divisor. Without it, the figure is compared as it is. */
  readonly against?: ContenderId;
  readonly atLeast?: number;
  readonly atMost?: number;
}

const ONE_SERVER: readonly Claim[] = [
  { shape: '1x1', contender: 'ours', figure: 'p50Us', against: 'curator', atMost: 0.85 },
  { shape: '1x1', contender: 'ours', figure: 'p50Us', against: 'floor', atMost: 1.05 },
  // Three requests, and the heartbeats of a held lease.
  { shape: '1x1', contender: 'ours', figure: 'packetsTo', atMost: 3.05 },
  { shape: '64-keys', contender: 'ours', figure: 'rate', against: 'curator', atLeast: 1.8 },
  { shape: '64-keys', contender: 'ours', figure: 'cpuUs', against: 'curator', atMost: 0.5 },
  { shape: '4x16', contender: 'ours-strict', figure: 'rate', against: 'curator', atLeast: 1.6 },
  { shape: '4x16', contender: 'ours-strict', figure: 'handOverP50Us', against: 'curator', atMost: 0.7 },
  { shape: '4x16', contender: 'ours-strict', figure: 'packetsFrom', atMost: 8 },
  { shape: '4x16', contender: 'ours', figure: 'rate', against: 'curator', atLeast: 100 },
  { shape: '4x16', contender: 'ours', figure: 'rate', against: 'redis-semaphore', atLeast: 1 },
  { shape: '4x16', contender: 'ours', figure: 'rate', against: 'redlock', atLeast: 1 },
  { shape: '4x16', contender: 'ours', figure: 'fairness', atLeast: 0.9 },
  { shape: '2ms', contender: 'ours', figure: 'rate', against: 'curator', atLeast: 1.6 },
  { shape: '2ms', contender: 'ours', figure: 'p99Us', against: 'ours-strict', atMost: 1.5 },
  { shape: '2ms', contender: 'ours', figure: 'fairness', atLeast: 0.9 },
  { shape: 'reads', contender: 'ours', figure: 'rate', against: 'curator-read-write', atLeast: 7 },
  { shape: 'reads', contender: 'ours-strict', figure: 'rate', against: 'curator-read-write', atLeast: 2.3 },
  { shape: 'kept', contender: 'ours-kept', figure: 'rate', atLeast: 300_000 },
  { shape: 'take-over', contender: 'ours-kept', figure: 'acquireP50Us', against: 'ours', atMost: 2 },
  { shape: '10000-waiters', contender: 'ours', figure: 'heapBytes', atMost: 1_024 },
  { shape: '10000-waiters', contender: 'ours-strict', figure: 'packetsTo', atMost: 3 },
];

/** One caller in each of many processes, keys that are used once, servers that are far away, links that fail. */
const ONE_CALLER: readonly Claim[] = [
  { shape: '16x1', contender: 'ours', figure: 'rate', against: 'curator', atLeast: 1.9 },
  { shape: '16x1', contender: 'ours', figure: 'cpuUs', against: 'curator', atMost: 0.45 },
  { shape: '16x1', contender: 'ours', figure: 'packetsTo', atMost: 6 },
  { shape: '4x1', contender: 'ours', figure: 'rate', against: 'curator', atLeast: 1.5 },
  { shape: '3-nodes-4x1', contender: 'ours', figure: 'rate', against: 'curator', atLeast: 1.25 },
  { shape: '3-nodes-4x1', contender: 'ours', figure: 'cpuUs', against: 'curator', atMost: 0.6 },
  { shape: '3-nodes-1x1', contender: 'ours', figure: 'p50Us', against: 'curator', atMost: 0.86 },
  { shape: 'far-16x1', contender: 'ours', figure: 'rate', against: 'curator', atLeast: 2.2 },
  { shape: 'far-4x1', contender: 'ours', figure: 'rate', against: 'curator', atLeast: 2.1 },
  { shape: '1x1-new', contender: 'ours', figure: 'acquireP50Us', against: 'curator', atMost: 0.45 },
  { shape: '64-new', contender: 'ours', figure: 'rate', against: 'curator', atLeast: 2.5 },
  { shape: '64-new', contender: 'ours', figure: 'packetsTo', atMost: 3.2 },
  { shape: '4x16', contender: 'ours-strict', figure: 'rate', against: 'curator-shared', atLeast: 8.5 },
  { shape: 'reads', contender: 'ours-strict', figure: 'rate', against: 'curator-read-write', atLeast: 4 },
  { shape: 'resets', contender: 'ours-reset', figure: 'rate', against: 'ours', atLeast: 0.85 },
  { shape: '1000-waiters', contender: 'ours-strict', figure: 'heapBytes', atMost: 4_096 },
];

/** On Redis, against a lock that polls. */
const ON_REDIS: readonly Claim[] = [
  { shape: 'redis-1x1', contender: 'ours-redis-strict', figure: 'p50Us', against: 'floor-redis', atMost: 1.25 },
  { shape: 'redis-64-keys', contender: 'ours-redis', figure: 'rate', against: 'redis-semaphore', atLeast: 0.95 },
  { shape: 'redis-4x1', contender: 'ours-redis', figure: 'rate', against: 'redis-semaphore', atLeast: 0.6 },
  { shape: 'redis-4x1', contender: 'ours-redis', figure: 'fairness', atLeast: 0.9 },
  { shape: 'redis-4x16', contender: 'ours-redis-strict', figure: 'rate', against: 'redis-semaphore', atLeast: 0.8 },
  { shape: 'redis-4x16', contender: 'ours-redis-strict', figure: 'p99Us', against: 'redis-semaphore', atMost: 0.2 },
  { shape: 'redis-4x16', contender: 'ours-redis', figure: 'rate', against: 'redis-semaphore', atLeast: 25 },
  { shape: 'redis-2ms', contender: 'ours-redis', figure: 'rate', against: 'redis-semaphore', atLeast: 1 },
  { shape: 'redis-2ms', contender: 'ours-redis', figure: 'p99Us', atMost: 100_000 },
];

/** On etcd, against a lock that polls, and against the same locks on one ZooKeeper server. */
const ON_ETCD: readonly Claim[] = [
  { shape: 'etcd-1x1', contender: 'ours-etcd', figure: 'rate', against: 'etcd3', atLeast: 1.8 },
  { shape: 'etcd-1x1', contender: 'ours-etcd', figure: 'rate', against: 'ours', atLeast: 0.7 },
  { shape: 'etcd-64-keys', contender: 'ours-etcd', figure: 'rate', against: 'etcd3', atLeast: 5 },
  { shape: 'etcd-4x1', contender: 'ours-etcd', figure: 'rate', against: 'etcd3', atLeast: 2 },
  { shape: 'etcd-4x1', contender: 'ours-etcd', figure: 'fairness', atLeast: 0.9 },
  { shape: 'etcd-4x16', contender: 'ours-etcd-strict', figure: 'rate', against: 'etcd3', atLeast: 7 },
  { shape: 'etcd-4x16', contender: 'ours-etcd', figure: 'rate', against: 'etcd3', atLeast: 400 },
  { shape: 'etcd-4x16', contender: 'ours-etcd', figure: 'rate', against: 'ours', atLeast: 0.1 },
  { shape: 'etcd-4x16', contender: 'ours-etcd-strict', figure: 'fairness', atLeast: 0.9 },
  { shape: 'etcd-2ms', contender: 'ours-etcd', figure: 'p99Us', atMost: 150_000 },
];

const ON_THREE_NODES = ['1x1', '64-keys', '4x16', '2ms', 'reads'];
/** The share by which the ratios of an ensemble may be worse. */
const ENSEMBLE = 0.2;

export const CLAIMS: readonly Claim[] = [
  ...ONE_SERVER,
  ...ONE_CALLER,
  ...ON_REDIS,
  ...ON_ETCD,
  ...ONE_SERVER.filter(isOfThreeNodes).map(onThreeNodes),
];

function isOfThreeNodes({ shape, against }: Claim): boolean {
  return ON_THREE_NODES.includes(shape) && against !== undefined && CONTENDERS.get(against)?.server === 'zookeeper';
}

function onThreeNodes({ shape, atLeast, atMost, ...claim }: Claim): Claim {
  return {
    ...claim,
    shape: `3-nodes-${shape}`,
    ...(atLeast === undefined ? {} : { atLeast: atLeast * (1 - ENSEMBLE) }),
    ...(atMost === undefined ? {} : { atMost: atMost * (1 + ENSEMBLE) }),
  };
}
