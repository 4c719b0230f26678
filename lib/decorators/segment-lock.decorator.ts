import type { ContentionHandler, OnContention } from '../contract/acquire.options.js';
import { check } from '../contract/check.js';
import type { Lock } from '../contract/lock.js';
import { checkRouteBy, checkSegmentedKey, resolveSegmentOptions } from '../contract/segment.options.js';
import type { SegmentOptions, SegmentRoute } from '../contract/segment.options.js';
import type { LockService } from '../service/lock.service.js';
import { needParentheses } from './decorated-place.js';
import { readerOfKey } from './lock-key.js';
import type { LockKey } from './lock-key.js';
import { lockMethod } from './lock-method.js';
import { LOCKING_FIELDS, resolveLockingOptions } from './locking.options.js';
import type { LockingOptions } from './locking.options.js';
import type { LockDecorator } from './method-check.js';
import { notALock } from './locked-method.js';

const NAME = '@SegmentLock';
const FIELDS = [...LOCKING_FIELDS, 'key', 'segments', 'route', 'routeBy'];

/** The function that returns a call's routing value from the method's arguments; annotate its parameters. */
export type SegmentRouteBy<B extends unknown[]> = (this: never, ...args: B) => string | number;

/** The routing options. With `'hash'` there must be a value. */
type Routing<B extends unknown[]> =
  | { readonly route?: 'free' | undefined; readonly routeBy?: SegmentRouteBy<B> | undefined }
  | { readonly route: 'hash'; readonly routeBy: SegmentRouteBy<B> };

/** The options of `SegmentLock`. */
export type SegmentLockOptions<A extends unknown[], B extends unknown[] = []> = LockingOptions &
  Pick<SegmentOptions, 'segments'> &
  Routing<B> & {
    /** The key, or the function that returns it from the method's arguments. */
    readonly key: LockKey<A>;
  };

/**
 * Runs the method under a lease on one segment of the key. In the whole cluster, as many calls run at a time as there
 * are segments. Inside the method, `currentSegment()` returns the segment, and the method works on that part of the
 * data only. A method that calls another with `@SegmentLock` of the same key uses the same segment.
 *
 * In everything else like `DistributedLock`.
 * @throws LockTimeoutError, LockLostError, LockUnavailableError, LockReentrancyError, LockConfigurationError
 */
export function SegmentLock<A extends unknown[], B extends unknown[] = [], C extends OnContention = 'throw', R = never>(
  options: SegmentLockOptions<A, B> & { readonly onContention?: C | ContentionHandler<R> | undefined },
): LockDecorator<A, C | ContentionHandler<R>, B> {
  needParentheses(`${NAME}({ key: 'key', segments: 16 })`, arguments);
  return lockMethod(NAME, (at) => {
    const locking = resolveLockingOptions(at, options, FIELDS);
    const { key, segments, route, routeBy } = options;
    const keyOf = readerOfKey(at.title, key);
    if (typeof key === 'string') checkSegmentedKey(key, `${at.title}: the key`);
    const routeOf = readerOfRoute(`${at.title}: `, route, routeBy);
    const split = resolveSegmentOptions({ segments, route }, `${at.title}: `);
    const segmentOptions = { ...split, ...locking.holding };
    return {
      options: locking,
      lockOf: (service, instance, args) => {
        const lock = service.segmented(keyOf(instance, args), segmentOptions);
        if (typeof lock?.using !== 'function') throw notALock(at.title);
        return routed(lock, routeOf(instance, args));
      },
    };
  });
}

/**
 * Returns a reader of one call's routing value. Refuses a non-function, and `'hash'` without a function, at decoration.
 */
function readerOfRoute(prefix: string, route: SegmentRoute | undefined, source: unknown) {
  if (source === undefined && route !== 'hash') return () => undefined;
  check(typeof source === 'function', `${prefix}routeBy`, source, 'a function of the arguments');
  return (instance: unknown, args: unknown[]): string | number => {
    const value: unknown = Reflect.apply(source, instance, args);
    checkRouteBy(value, prefix);
    return value;
  };
}

/** The lock with one call's routing value. */
function routed(lock: ReturnType<LockService['segmented']>, routeBy: string | number | undefined): Lock {
  return {
    acquire: (options) => lock.acquire({ ...options, routeBy }),
    tryAcquire: (options) => lock.tryAcquire({ ...options, routeBy }),
    using: (work, options) => lock.using(work, { ...options, routeBy }),
  };
}
