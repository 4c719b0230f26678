import { AsyncResource } from 'node:async_hooks';
import { catchError, concat, defer, finalize, from, ignoreElements, Observable } from 'rxjs';
import { LockConfigurationError } from '../contract/errors.js';
import type { StreamEnd } from './stream-end.js';

/** The source, subscribed to inside the lease's async context; it completes when the lease has been given back. */
export function heldObservable<T>(source: Observable<T>, end: StreamEnd): Observable<T> {
  const lease = new AsyncResource('HeldObservable');
  let isConsumed = false;
  const held = new Observable<T>((subscriber) => {
    if (isConsumed) throw consumedTwice();
    isConsumed = true;
    end.completeOnItsOwn();
    return lease.runInAsyncScope(() => untilReleased(source, end).subscribe(subscriber));
  });
  end.completeWithout(held);
  return held;
}

export function consumedTwice(): LockConfigurationError {
  return new LockConfigurationError('a stream that holds a lease can be consumed once: call the method again');
}

function untilReleased<T>(source: Observable<T>, end: StreamEnd): Observable<T> {
  const release = () => from(end.outcome).pipe(ignoreElements());
  const failed = source.pipe(
    catchError((error: unknown) => {
      end.fail(error);
      return release();
    }),
  );
  const completed = defer(() => {
    end.complete();
    return release();
  });
  return concat(failed, completed).pipe(finalize(() => end.complete()));
}
