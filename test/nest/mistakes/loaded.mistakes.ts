import {
  CronLock,
  DistributedLock,
  LockModule,
  OutsideLock,
  ReadLock,
  Semaphore,
  zookeeper,
} from '../../../lib/index.js';
import { refusalOf, unchecked } from './mistake.js';
import type { Mistakes } from './mistake.js';

type Decorate = (target: object, name: unknown, descriptor?: unknown) => void;

class Orders {
  static all() {}
  get total() {
    return 0;
  }
  place() {}
}

const { prototype } = Orders;

/** Returns the error of loading a class whose method has the decorator that `make` returns. */
const onMethod = (make: () => unknown) => () =>
  refusalOf(() => unchecked<Decorate>(make())(prototype, 'place', { value: prototype.place }));

const descriptorOf = (target: object, name: string) => Object.getOwnPropertyDescriptor(target, name);

const misplaced =
  (...place: Parameters<Decorate>) =>
  () =>
    refusalOf(() => unchecked<Decorate>(DistributedLock('key'))(...place));

const connectString = (value: unknown) => () => refusalOf(() => zookeeper({ connectString: unchecked(value) }));

/** The mistakes that are refused as soon as the file is loaded, whatever the compiler has checked. */
export const LOADED: Mistakes = {
  'no-parentheses-loaded': () =>
    refusalOf(() => unchecked<Decorate>(DistributedLock)(prototype, 'place', descriptorOf(prototype, 'place'))),
  'static-method-loaded': misplaced(Orders, 'all', descriptorOf(Orders, 'all')),
  accessor: misplaced(prototype, 'total', descriptorOf(prototype, 'total')),
  'arrow-function': misplaced(prototype, 'arrow'),
  'on-a-class': misplaced(Orders, undefined),
  'on-a-parameter': misplaced(prototype, 'place', 0),
  'standard-decorators': misplaced(unchecked(prototype.place), { kind: 'method', name: 'place' }),
  'options-are-a-number': onMethod(() => DistributedLock('key', unchecked(5_000))),
  'cron-lock-with-a-key': onMethod(() => CronLock(unchecked('key'))),
  ttl: onMethod(() => DistributedLock('key', unchecked({ ttl: 5_000 }))),
  'lock-at-most-for': onMethod(() => CronLock(unchecked({ lockAtMostFor: '10m' }))),
  'retry-count': onMethod(() => ReadLock('key', unchecked({ retryCount: 10 }))),
  'wait-as-text': onMethod(() => DistributedLock('key', { waitMs: unchecked('5s') })),
  'on-contention': onMethod(() => DistributedLock('key', { onContention: unchecked<'skip'>('ignore') })),
  'no-key': onMethod(() => DistributedLock(unchecked<string>(undefined))),
  'bad-fixed-key': onMethod(() => DistributedLock('order/../42')),
  'no-permits': onMethod(() => Semaphore('key', unchecked({}))),
  'outside-lock-without-parentheses': onMethod(() => OutsideLock(unchecked(() => () => {}))),
  'no-module-options': () => refusalOf(() => LockModule.forRoot(unchecked(undefined))),
  'connection-string': () => refusalOf(() => zookeeper(unchecked({ connectionString: 'zk1:2181' }))),
  'other-protocol': connectString('redis://localhost:6379'),
  'chroot-after-each-server': connectString('zk1:2181/app,zk2:2181/app'),
  'semicolon-between-servers': connectString('zk1:2181;zk2:2181'),
  'base-path': () => refusalOf(() => zookeeper({ basePath: '/locks/' })),
  'auth-as-text': () => refusalOf(() => zookeeper({ auth: unchecked('user:password') })),
};
