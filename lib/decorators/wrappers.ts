import type { LockedMethod } from './locked-method.js';

/** The function on the prototype that wraps each locked method. */
const locks = new WeakMap<LockedMethod, object>();

/**
 * The function that each known wrapper has replaced. A known wrapper is a lock's, or is meant to be outside of the
 * lock.
 */
const replacedBy = new WeakMap<object, object>();

/** Records that a decorator of this package has replaced `original` by `wrapper`. */
export function noteLock(method: LockedMethod, wrapper: object, original: object): void {
  locks.set(method, wrapper);
  noteWrapper(wrapper, original);
}

/** Records that `wrapper` has replaced `original` and may be above a lock. */
export function noteWrapper(wrapper: object, original: object): void {
  if (wrapper !== original) replacedBy.set(wrapper, original);
}

/**
 * The unknown function with which a decorator above the lock has replaced it. `undefined` where there is none, and
 * where it cannot be seen without calling a getter.
 */
function strangeWrapperOf(method: LockedMethod): Function | undefined {
  const lock = locks.get(method);
  let above: unknown = Object.getOwnPropertyDescriptor(method.prototype, method.name)?.value;
  while (lock && typeof above === 'function' && above !== lock) {
    const below = replacedBy.get(above);
    if (!below) return above;
    above = below;
  }
  return undefined;
}

/** The warning about a method whose lock is below another wrapper; `undefined` when there is none. */
export function wrapperWarning(method: LockedMethod): string | undefined {
  const wrapper = strangeWrapperOf(method);
  if (!wrapper) return undefined;
  const { title, name } = method;
  const [decorator] = title.split(' ');
  return (
    `${title} stands below a decorator that wraps the method${wrapperName(wrapper, name)}. What that one does after the ` +
    `method, such as a commit, happens when the lease has been given back. Put ${decorator} above it (after it in ` +
    'the list of applyDecorators), or use LockInterceptor. If the order is meant (traces, metrics), write @OutsideLock(ThatDecorator())'
  );
}

/** The wrapper's own name for the message, if it says more than the method's name. */
function wrapperName(wrapper: Function, method: string | symbol): string {
  const name: unknown = Object.getOwnPropertyDescriptor(wrapper, 'name')?.value;
  const saysNothing = typeof name !== 'string' || ['', 'value', String(method)].includes(name);
  return saysNothing ? '' : ` (its function is called "${name}")`;
}
