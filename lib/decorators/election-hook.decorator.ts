import { check, checkFields } from '../contract/check.js';
import type { Term } from '../contract/elections.js';
import { DEFAULT_CONNECTION } from '../service/lock-service.token.js';
import { decoratedPlace, needParentheses } from './decorated-place.js';
import { ElectionRole } from './election-role.js';
import type { ElectionPart } from './election-role.js';
import { registerLockedMethod } from './locked-method.js';
import type { LockingOptions } from './locking.options.js';
import type { CannotLock, NotStatic, SecondChoice } from './method-check.js';

/** The options of `OnElected` and `OnDeposed`. */
export type ElectionHookOptions = Pick<LockingOptions, 'connection'>;

/** A method decorator for methods that take a term, or nothing. */
export interface ElectionHookDecorator {
  /** @typeParam T the type of the method */
  <T extends (term: Term) => unknown>(
    target: NotStatic,
    name: string | symbol,
    descriptor: TypedPropertyDescriptor<T>,
  ): void;
  (
    target: object & SecondChoice,
    name: string | symbol,
  ): CannotLock<'a hook of an election is a method of an instance that takes the term, or nothing'>;
}

/**
 * Calls the method with the term each time this application is elected. The application then campaigns, as with
 * `LeaderOnly`.
 *
 * - The hooks of one election are called one after the other, never two at once. Those of `@OnDeposed` are called only
 *   after the last of `@OnElected` has ended. Methods with `@LeaderOnly` run after all `@OnElected` hooks have ended.
 * - The method runs under the term: its `signal` aborts when the term is lost. Remaining hooks are not called after
 *   that, nor once the application shuts down or has resigned.
 * - An error is logged and changes nothing: the application remains the leader.
 */
export function OnElected(name: string, options: ElectionHookOptions = {}): ElectionHookDecorator {
  needParentheses("@OnElected('name')", arguments);
  return hook('@OnElected', name, 'elected', options);
}

/**
 * Calls the method with the term each time this application has ceased to lead. In all else like `OnElected`.
 *
 * - It is not called when the instance has methods with `@OnElected` for the election and none of them was called for
 *   this term.
 * - At shutdown, and by `resign`, runs of `@LeaderOnly` have ended and the term is still held. No other candidate is
 *   elected until the hooks have ended. `term.isHeld()` shows which case it is.
 * - When the term was lost, another application may lead already, and runs of `@LeaderOnly` may not have ended.
 * - The application does not campaign again before the hooks have ended.
 */
export function OnDeposed(name: string, options: ElectionHookOptions = {}): ElectionHookDecorator {
  needParentheses("@OnDeposed('name')", arguments);
  return hook('@OnDeposed', name, 'deposed', options);
}

function hook(
  decorator: string,
  election: string,
  part: ElectionPart,
  options: ElectionHookOptions,
): ElectionHookDecorator {
  const decorate = <T>(target: object, name: string | symbol, descriptor: TypedPropertyDescriptor<T>): void => {
    const at = decoratedPlace(decorator, target, name, descriptor);
    const { title } = at;
    checkFields(title, options, ['connection'], `${title}: the options`);
    const { connection = DEFAULT_CONNECTION } = options;
    check(typeof connection === 'string' && connection !== '', `${title}: connection`, connection, 'a name');
    registerLockedMethod({ ...at, election: new ElectionRole(at, election, part) }, connection);
  };
  return decorate as ElectionHookDecorator;
}
