import type { CallHandler, ExecutionContext, NestInterceptor, Type } from '@nestjs/common';
import type { Observable } from 'rxjs';
import { LockConfigurationError } from '../contract/errors.js';
import { isDecoratorCall } from './decorated-place.js';
import { mutexLocking } from './distributed-lock.decorator.js';
import { holdDuring } from './hold-during.js';
import { lazyObservable } from './lazy-generator.js';
import type { LockKeys } from './lock-key.js';
import { openerOf } from './lock-method.js';
import { registerLockedMethod } from './locked-method.js';
import type { DistributedLockOptions } from './locking.options.js';

const NAME = 'LockInterceptor';

/**
 * Returns an interceptor class that holds a lease on `key` around the interceptors after it and the handler. It is for
 * `@UseInterceptors` above a handler or a class. Use it where an interceptor has a transaction: `@DistributedLock`
 * releases its lease before that transaction commits.
 *
 * - The order is that of `@UseInterceptors`; interceptors of the class go around those of its handlers.
 * - Guards run before it. Pipes run inside: the key function sees the request before it is validated.
 * - The lease ends when the handler's stream ends, or when the stream has no subscriber any more. Then the client is
 *   answered.
 * - `currentLease()`, the options and the errors are those of `DistributedLock`. The label is `Class.handler` by
 *   default.
 * - With `onContention: 'skip'` the handler does not run and the client gets an empty answer. A function gets the
 *   `ExecutionContext` as the call's only argument.
 *
 * @param key the key, several keys, or a function of the handler's `ExecutionContext`
 * @throws LockConfigurationError for wrong options and keys, when the class is loaded
 */
export function LockInterceptor(
  key: LockKeys<[context: ExecutionContext]>,
  options: DistributedLockOptions = {},
): Type<NestInterceptor> {
  if (new.target || isDecoratorCall(arguments)) {
    throw new LockConfigurationError(`${NAME} needs a key: write @UseInterceptors(${NAME}('key'))`);
  }
  const locking = mutexLocking({ title: NAME, place: NAME }, key, options);

  class HandlerLockInterceptor implements NestInterceptor {
    /**
     * Always throws. Some versions of Nest accept the class in place of an instance, as an interceptor that does
     * nothing.
     */
    static intercept(): never {
      throw new LockConfigurationError(
        `${NAME} makes a class: write @UseInterceptors(${NAME}('key')), or { provide: APP_INTERCEPTOR, useClass: ${NAME}('key') }`,
      );
    }

    intercept(context: ExecutionContext, next: CallHandler): Observable<unknown> {
      const [className, methodName] = [context.getClass().name, context.getHandler().name];
      const place = `${className}.${methodName}`;
      const { label = place } = options;
      const handler = {
        title: `${NAME} on ${place}`,
        className,
        methodName,
        options: { ...locking.options, label },
        open,
        run: () => next.handle(),
      };
      return lazyObservable((gone) => holdDuring(handler, this, [context], gone));
    }
  }

  const { prototype } = HandlerLockInterceptor;
  const method = registerLockedMethod(
    { title: NAME, place: NAME, prototype, name: 'intercept' },
    locking.options.connection,
  );
  const open = openerOf(method, locking);
  return HandlerLockInterceptor;
}
