import { isOnContention, ON_CONTENTION } from '../contract/acquire.options.js';
import type { ContentionHandler, OnContention } from '../contract/acquire.options.js';
import { check, checkFields } from '../contract/check.js';
import { needParentheses } from './decorated-place.js';
import { ElectionRole } from './election-role.js';
import { lockMethod } from './lock-method.js';
import { LOCKING_FIELDS, resolveLockingOptions } from './locking.options.js';
import type { LockingOptions } from './locking.options.js';
import type { LockDecorator } from './method-check.js';

const NAME = '@LeaderOnly';

/** The options of `LeaderOnly`. */
export interface LeaderOnlyOptions extends Pick<LockingOptions, 'onLost' | 'connection'> {
  /**
   * The behaviour of a call where the application does not lead. Default `'skip'`.
   * - `'skip'`: does not run the method, and resolves to `undefined`.
   * - `'throw'`: rejects with a `LockNotLeaderError`.
   * - a function of the context: see `onContention`.
   */
  readonly onFollower?: OnContention | undefined;
}

const FIELDS = ['onFollower', 'onLost', 'connection'];

/**
 * Runs the method on the leader of the election only, and skips it everywhere else. The application campaigns in the
 * background from its start until its shutdown, through lost sessions. All methods with the same name share one
 * campaign.
 *
 * - Goes above or below other decorators (`@Cron`, `@Interval`, `@Get`, `@OnEvent`).
 * - The method runs under the application's term, which `currentTerm()` and `currentLease()` return. Several runs may
 *   be under way at once: the term is the application's, not the call's.
 * - A term that is lost aborts the `signal` at once. The call rejects when the method has ended (see `onLost`). A
 *   connection that is lost and comes back within the session ends nothing.
 * - Runs begin when the methods with `@OnElected` have ended. At shutdown, and by `resign`, no further run begins. Runs
 *   that have begun may end, and then the next candidate is elected. Calls made by a run are part of it.
 *
 * @param name the election's name in the module's `service`. A name that begins with `/` is a path, to share with other
 *   services and with Curator's LeaderLatch.
 * @throws LockNotLeaderError (HTTP 503, see `onFollower`): the method did not run; LockLostError after the method has
 *   ended; LockConfigurationError. The method's own error is never replaced.
 */
export function LeaderOnly<C extends OnContention = 'skip', R = never>(
  name: string,
  options: LeaderOnlyOptions & { readonly onFollower?: C | ContentionHandler<R> | undefined } = {},
): LockDecorator<[], C | ContentionHandler<R>> {
  needParentheses(`${NAME}('name')`, arguments);
  return lockMethod(NAME, (at) => {
    checkFields(at.title, options, FIELDS, `${at.title}: the options`);
    const { onFollower = 'skip', ...others } = options;
    check(isOnContention(onFollower), `${at.title}: onFollower`, onFollower, ON_CONTENTION);
    const election = new ElectionRole(at, name, 'work');
    return {
      election,
      options: resolveLockingOptions(at, { ...others, waitMs: 0, onContention: onFollower }, LOCKING_FIELDS),
      lockOf: (service) => election.leadershipOn(service),
    };
  });
}
