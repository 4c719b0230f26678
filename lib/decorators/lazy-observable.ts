import { isObservable, Observable, of } from 'rxjs';

/**
 * For methods declared to return an Observable: cold, as they were. Each subscription is a call of its own that gets
 * its lock when it subscribes; unsubscribing gives up waiting. A call that is skipped emits `undefined`.
 */
export function lazyObservable(open: (gone: AbortSignal) => Promise<unknown>): Observable<unknown> {
  return new Observable((subscriber) => {
    const gone = new AbortController();
    subscriber.add(() => gone.abort());
    open(gone.signal).then(
      (value) => {
        if (!subscriber.closed) (isObservable(value) ? value : of(value)).subscribe(subscriber);
      },
      (error: unknown) => subscriber.error(error),
    );
  });
}
