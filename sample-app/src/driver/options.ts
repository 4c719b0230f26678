import { parseArgs } from 'node:util';
import type { ServerKind } from './lock-server.js';

/** The amount of work in each scene. */
export interface Sizes {
  readonly orders: number;
  readonly shoppers: number;
  readonly quotesEach: number;
  readonly reprices: number;
  readonly transfers: number;
  readonly trips: number;
  readonly parcels: number;
  readonly units: number;
  readonly buyers: number;
  readonly reportSeconds: number;
  /** The number of polls before the leader is killed, and again after it. */
  readonly polls: number;
}

const NORMAL: Sizes = {
  orders: 60,
  shoppers: 30,
  quotesEach: 12,
  reprices: 30,
  transfers: 160,
  trips: 120,
  parcels: 120,
  units: 300,
  buyers: 400,
  reportSeconds: 5,
  polls: 40,
};

export const SHORT: Sizes = {
  orders: 15,
  shoppers: 12,
  quotesEach: 5,
  reprices: 8,
  transfers: 40,
  trips: 40,
  parcels: 30,
  units: 60,
  buyers: 100,
  reportSeconds: 2,
  polls: 15,
};

const MOST = 2_000;

export const USAGE = `A small shop, run by five instances that share files, with ZooKeeper, Redis or etcd between them.

npm run sample                       the whole show, less than a minute
npm run sample -- --short            less of everything, for CI
npm run sample -- --units 50 --buyers 500
npm run sample -- --watch            the page of locks beside scenes that it is for, until you press Ctrl-C
npm run sample -- --help

npm run sample -- --zookeeper real   on Apache ZooKeeper, from ZOOKEEPER_HOME, Debian's package or Docker
npm run sample -- --backend redis    on Redis, from Debian's package or the path
npm run sample -- --backend etcd     on etcd, from Debian's package, the path or ETCD_BIN

ZOOKEEPER_CONNECT=host:port npm run sample   uses a ZooKeeper that runs already. Without either, the embedded server of
                                             this package is started on 127.0.0.1, in a process of its own.
REDIS_URL=redis://host:port npm run sample -- --backend redis   uses a Redis that runs already.
ETCD_HOSTS=host:port npm run sample -- --backend etcd          uses an etcd that runs already.`;

export interface Options {
  readonly help: boolean;
  /** Whether the page of locks is shown, in place of the show. */
  readonly watch: boolean;
  readonly sizes: Sizes;
  readonly server: ServerKind;
}

/** @throws TypeError for an unknown option */
export function parseOptions(args: readonly string[]): Options {
  const { values } = parseArgs({
    args: [...args],
    options: {
      help: { type: 'boolean', short: 'h', default: false },
      short: { type: 'boolean', default: false },
      watch: { type: 'boolean', default: false },
      units: { type: 'string' },
      buyers: { type: 'string' },
      backend: { type: 'string', default: 'zookeeper' },
      zookeeper: { type: 'string' },
    },
  });
  const sizes = values.short ? SHORT : NORMAL;
  const units = count('units', values.units, sizes.units);
  const buyers = count('buyers', values.buyers, sizes.buyers);
  return { help: values.help, watch: values.watch, sizes: { ...sizes, units, buyers }, server: serverKind(values) };
}

function serverKind({ backend, zookeeper }: { backend: string; zookeeper?: string | undefined }): ServerKind {
  if (backend === 'redis' || backend === 'etcd') {
    if (zookeeper === undefined) return backend;
    throw new TypeError('--zookeeper is for --backend zookeeper');
  }
  if (backend !== 'zookeeper') {
    throw new TypeError(`--backend must be 'zookeeper', 'redis' or 'etcd', not '${backend}'`);
  }
  if (zookeeper === undefined || zookeeper === 'embedded') return 'embedded';
  if (zookeeper === 'real') return 'real';
  throw new TypeError(`--zookeeper must be 'embedded' or 'real', not '${zookeeper}'`);
}

function count(option: string, text: string | undefined, otherwise: number): number {
  if (text === undefined) return otherwise;
  const value = Number(text);
  if (Number.isInteger(value) && value >= 1 && value <= MOST) return value;
  throw new TypeError(`--${option} must be a whole number from 1 to ${MOST}, not '${text}'`);
}
