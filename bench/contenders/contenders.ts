import type { Contender, ContenderId } from './contender.js';

const ours = { program: 'node', module: 'ours', server: 'zookeeper' } as const;
const oursOnRedis = { program: 'node', module: 'ours-redis', server: 'redis' } as const;
const floorOnRedis = { program: 'node', server: 'redis' } as const;
const oursOnEtcd = { program: 'node', module: 'ours-etcd', server: 'etcd' } as const;
const curator = { program: 'java', server: 'zookeeper' } as const;
const kazoo = { program: 'python', server: 'zookeeper' } as const;
const redisSemaphore = { program: 'node', module: 'redis-semaphore' } as const;

const ALL: readonly Contender[] = [
  { id: 'ours', label: 'ours', ...ours, options: { localLine: true }, isLocalLine: true },
  { id: 'ours-strict', label: 'ours, local line off', ...ours, options: { localLine: false } },
  { id: 'ours-kept', label: 'ours, keepMs', ...ours, options: { keepMs: 30_000 }, isLocalLine: true },
  { id: 'ours-reset', label: 'ours, links reset', ...ours, options: {}, isLocalLine: true, isReset: true },
  { id: 'floor', label: 'the floor: create + list, delete', program: 'node', module: 'floor', server: 'zookeeper' },
  {
    id: 'plain-recipe',
    label: 'the plain recipe, no promises',
    program: 'node',
    module: 'plain-recipe',
    server: 'zookeeper',
  },
  {
    id: 'ours-redis',
    label: 'ours on Redis, no fsync',
    ...oursOnRedis,
    options: { localLine: true },
    isLocalLine: true,
  },
  { id: 'ours-redis-strict', label: 'ours on Redis, local line off', ...oursOnRedis, options: { localLine: false } },
  { id: 'floor-redis', label: 'the floor: SET NX PX, DEL', module: 'floor-redis', ...floorOnRedis },
  {
    id: 'floor-redis-queue',
    label: 'the floor: a queue, nothing else',
    module: 'floor-redis-queue',
    ...floorOnRedis,
  },
  {
    id: 'floor-redis-head',
    label: 'the floor: two scripts, only the check',
    module: 'floor-redis-head',
    ...floorOnRedis,
  },
  {
    id: 'floor-redis-lock',
    label: 'the floor: the scripts of our lock',
    module: 'floor-redis-lock',
    ...floorOnRedis,
  },
  { id: 'floor-etcd', label: 'the floor: put, delete', program: 'node', module: 'floor-etcd', server: 'etcd' },
  { id: 'ours-etcd', label: 'ours on etcd', ...oursOnEtcd, options: { localLine: true }, isLocalLine: true },
  { id: 'ours-etcd-strict', label: 'ours on etcd, local line off', ...oursOnEtcd, options: { localLine: false } },
  { id: 'curator', label: 'Curator, an object per caller', ...curator, module: 'mutex per caller' },
  { id: 'curator-shared', label: 'Curator, an object per process', ...curator, module: 'mutex per process' },
  { id: 'curator-semaphore', label: 'Curator, semaphore mutex', ...curator, module: 'semaphore mutex' },
  { id: 'curator-read-write', label: 'Curator, read-write lock', ...curator, module: 'read-write' },
  { id: 'kazoo', label: 'kazoo', ...kazoo, module: 'kazoo' },
  { id: 'redis-semaphore', label: 'redis-semaphore, no fsync', ...redisSemaphore, server: 'redis' },
  { id: 'redis-semaphore-fsync', label: 'redis-semaphore, AOF with fsync', ...redisSemaphore, server: 'redis-fsync' },
  { id: 'redlock', label: 'redlock, one Redis, no fsync', program: 'node', module: 'redlock', server: 'redis' },
  { id: 'etcd3', label: 'etcd3', program: 'node', module: 'etcd3', server: 'etcd' },
  { id: 'no-lock', label: 'no lock, to be found out', program: 'node', module: 'no-lock', server: 'zookeeper' },
];

/** All contenders, in the order of the tables. */
export const CONTENDERS: ReadonlyMap<ContenderId, Contender> = new Map(ALL.map((one) => [one.id, one]));
