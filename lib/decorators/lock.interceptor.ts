import { StreamableFile } from '@nestjs/common';
import type { CallHandler, ExecutionContext, NestInterceptor, Type } from '@nestjs/common';
import { Readable } from 'node:stream';
import 'reflect-metadata';
import { defer, Observable, tap } from 'rxjs';
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

/** The metadata of a handler with `@Sse`. Nest has no public name for it. */
const SSE = '__sse__';

/**
 * Returns an interceptor class that holds a lease on `key` around the interceptors after it and the handler. It is for
 * `@UseInterceptors` above a handler or a class. Use it where an interceptor has a transaction: `@DistributedLock`
 * releases its lease before that transaction commits.
 *
 * - The order is that of `@UseInterceptors`; interceptors of the class go around those of its handlers.
 * - Guards run before it. Pipes run inside: the key function sees the request before it is validated.
 * - The lease ends when the handler's stream ends. Then the client is answered.
 * - A client that leaves does not stop an async handler: the lease lasts until its first value or its end. It ends at
 *   once when the handler has sent a value, or is declared to return an `Observable`: unsubscribing stops these. So it
 *   does with `@Sse`, where an async handler that has not returned its stream goes on without the lock.
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
      const handler = { title: `${NAME} on ${place}`, className, methodName, open };
      const ofCall = { ...handler, options: { ...locking.options, label } };
      const locked = (run: () => Observable<unknown>) =>
        lazyObservable((gone) => holdDuring({ ...ofCall, run }, this, [context], gone));
      return isStopped(context) ? locked(() => next.handle()) : untilAnswered(next, locked);
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

/**
 * Whether unsubscribing stops the handler: it is declared to return an `Observable`, or has `@Sse`. Nest does not tell
 * when an async one has returned its stream, which may be silent for ever.
 */
function isStopped(context: ExecutionContext): boolean {
  if (Reflect.getMetadata(SSE, context.getHandler()) === true) return true;
  const { prototype } = context.getClass();
  return Reflect.getMetadata('design:returntype', prototype, context.getHandler().name) === Observable;
}

/**
 * Runs a handler that unsubscribing may not stop: an async method goes on. So a subscriber that leaves ends the lease
 * only after the handler's first value, its error or its completion. A stream may send values without end.
 */
function untilAnswered(
  next: CallHandler,
  locked: (run: () => Observable<unknown>) => Observable<unknown>,
): Observable<unknown> {
  return new Observable((subscriber) => {
    let isRunning = false;
    const answered = () => void (isRunning = false);
    const handled = defer(() => {
      isRunning = true;
      return next.handle().pipe(tap({ next: answered, error: answered, complete: answered }));
    });
    const leave = (unsent: unknown) => {
      call.unsubscribe();
      destroyUnsent(unsent);
    };
    const call = locked(() => handled).subscribe({
      next: (value) => (subscriber.closed ? leave(value) : subscriber.next(value)),
      error: (error: unknown) => subscriber.error(error),
      complete: () => subscriber.complete(),
    });
    return () => {
      if (!isRunning) call.unsubscribe();
    };
  });
}

/** Ends a stream that nobody reads any more: it may hold an open file. Nest does so when it knows that nobody does. */
function destroyUnsent(value: unknown): void {
  const stream: unknown = value instanceof StreamableFile ? value.getStream() : value;
  if (stream instanceof Readable) stream.destroy();
}
