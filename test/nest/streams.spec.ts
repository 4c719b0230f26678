import 'reflect-metadata';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { Controller, Get, Injectable, Sse } from '@nestjs/common';
import {
  defer,
  firstValueFrom,
  lastValueFrom,
  map,
  merge,
  NEVER,
  Observable,
  of,
  range,
  Subject,
  take,
  throwError,
  toArray,
} from 'rxjs';
import type { Server } from 'node:http';
import request from 'supertest';
import { describe, expect, it } from 'vitest';
import { deferred } from '../../lib/async/deferred.js';
import { assertHeld, currentLease, DistributedLock, LockLostError, LockService } from '../../lib/index.js';
import type { ObservedBackend } from '../unit/service/observed.backend.js';
import { startApp } from './app.js';

@Injectable()
class Feed {
  readonly subject = new Subject<string>();
  readonly finished: string[] = [];
  calls = 0;

  @DistributedLock('declared')
  declared(): Observable<string> {
    this.calls++;
    return merge(
      defer(() => of(`subscribed under ${currentLease()?.key}`)),
      this.subject,
    );
  }

  @DistributedLock('declared', { onContention: 'skip' })
  skipped(): Observable<string | undefined> {
    return of('ran');
  }

  @DistributedLock('failing')
  failing(): Observable<string> {
    return throwError(() => new TypeError('its own'));
  }

  @DistributedLock('endless')
  endless(): Observable<number> {
    return range(0, Number.MAX_SAFE_INTEGER);
  }

  @DistributedLock('promised')
  async promised(): Promise<Observable<string>> {
    return this.subject;
  }

  @DistributedLock('abandoned')
  async abandoned(): Promise<Observable<string>> {
    return NEVER;
  }

  @DistributedLock('generated', { waitMs: 0 })
  async *generated(count: number): AsyncGenerator<string, string, number | undefined> {
    this.calls++;
    try {
      let last: number | undefined = 0;
      for (let i = 0; i < count; i++) last = yield `${i}, ${last}, ${assertHeld().key}`;
      return 'returned';
    } finally {
      this.finished.push(String(currentLease()?.key));
    }
  }

  @DistributedLock('generated', { onContention: 'skip' })
  async *skippedGenerator(): AsyncIterable<string> {
    yield 'ran';
  }

  @DistributedLock('queued', { waitMs: Infinity })
  async *queued(): AsyncGenerator<string> {
    this.calls++;
    yield 'ran';
  }

  @DistributedLock('broken')
  async *broken(): AsyncGenerator<string> {
    yield 'one';
    throw new TypeError('its own');
  }

  @DistributedLock('iterable')
  async iterable(): Promise<AsyncIterable<string>> {
    const key = () => String(currentLease()?.key);
    return {
      [Symbol.asyncIterator]: async function* () {
        yield key();
        yield key();
      },
    };
  }
}

const NOTHING = { done: true, value: undefined };

async function startFeed() {
  const { app, backend } = await startApp({ providers: [Feed] });
  return { feed: app.get(Feed), locks: app.get(LockService), backend };
}

const lose = (backend: ObservedBackend, key: string) => backend.leaseOn(key)?.lose(new LockLostError(key, 'test'));

setFlagsFromString('--expose-gc');
const collectGarbage: () => void = runInNewContext('gc');

/** Subscribes, and collects all values until the end. */
function collect<T>(source: Observable<T>) {
  const values: T[] = [];
  const end = deferred<unknown>();
  const subscription = source.subscribe({
    next: (value) => values.push(value),
    error: (error: unknown) => end.resolve(error),
    complete: () => end.resolve('completed'),
  });
  return { values, end: end.promise, subscription };
}

describe('a method declared to return an Observable', () => {
  it('stays cold, holds its lease from subscribe to completion, and runs inside it', async () => {
    const { feed, backend } = await startFeed();
    const source = feed.declared();
    expect(source).toBeInstanceOf(Observable);
    expect([feed.calls, backend.requests.length]).toEqual([0, 0]);
    const seen = collect(source);
    await backend.standing('declared', 1);
    await expect.poll(() => feed.subject.observed).toBe(true);
    feed.subject.next('a');
    feed.subject.next('b');
    expect(backend.leaseOn('declared')?.isHeld()).toBe(true);
    feed.subject.complete();
    expect(await seen.end).toBe('completed');
    expect(seen.values).toEqual(['subscribed under declared', 'a', 'b']);
    expect(backend.busyKeys).toEqual([]);
  });

  it('releases the lease before it reports its end', async () => {
    const { feed, backend } = await startFeed();
    const seen = collect(feed.declared());
    await expect.poll(() => feed.subject.observed).toBe(true);
    const given = deferred<boolean>();
    const lease = backend.leaseOn('declared');
    void seen.end.then(() => given.resolve(lease?.state === 'released'));
    feed.subject.complete();
    expect(await given.promise).toBe(true);
  });

  it('acquires once per subscription, and subscriptions exclude each other', async () => {
    const { feed, backend } = await startFeed();
    const source = feed.declared();
    const one = collect(source);
    const two = collect(source);
    await backend.standing('declared', 2);
    await expect.poll(() => feed.subject.observed).toBe(true);
    expect(feed.calls).toBe(1);
    one.subscription.unsubscribe();
    await expect.poll(() => feed.calls).toBe(2);
    two.subscription.unsubscribe();
    await backend.standing('declared', 0);
  });

  it('releases the lease when it is unsubscribed early, by hand or by take()', async () => {
    const { feed, backend } = await startFeed();
    const seen = collect(feed.declared());
    await expect.poll(() => feed.subject.observed).toBe(true);
    seen.subscription.unsubscribe();
    await backend.standing('declared', 0);
    expect(feed.subject.observed).toBe(false);
    expect(await lastValueFrom(feed.endless().pipe(take(3), toArray()))).toEqual([0, 1, 2]);
    await backend.standing('endless', 0);
  });

  it('leaves the queue when it is unsubscribed while it waits, and never runs', async () => {
    const { feed, backend, locks } = await startFeed();
    await using _held = await locks.acquire('declared');
    const seen = collect(feed.declared());
    await backend.standing('declared', 2);
    seen.subscription.unsubscribe();
    await backend.standing('declared', 1);
    expect(feed.calls).toBe(0);
  });

  it('errors with the source’s own error', async () => {
    const { feed, backend } = await startFeed();
    await expect(lastValueFrom(feed.failing())).rejects.toThrow(TypeError);
    expect(backend.busyKeys).toEqual([]);
  });

  it('errors at its end when the lease was lost in between', async () => {
    const { feed, backend } = await startFeed();
    const seen = collect(feed.declared());
    await expect.poll(() => feed.subject.observed).toBe(true);
    lose(backend, 'declared');
    feed.subject.next('late');
    feed.subject.complete();
    expect(await seen.end).toBeInstanceOf(LockLostError);
    expect(seen.values.at(-1)).toBe('late');
  });

  it('errors with the reason why it did not run', async () => {
    const feed = new Feed();
    expect(await collect(feed.declared()).end).toMatchObject({ code: 'LOCK_CONFIGURATION' });
    expect(feed.calls).toBe(0);
  });

  it('emits undefined when it was skipped', async () => {
    const { feed, locks } = await startFeed();
    expect(await firstValueFrom(feed.skipped())).toBe('ran');
    await using _held = await locks.acquire('declared');
    expect(await lastValueFrom(feed.skipped().pipe(toArray()))).toEqual([undefined]);
  });
});

describe('a method that promises an Observable', () => {
  it('holds the lease until that ends', async () => {
    const { feed, backend } = await startFeed();
    const seen = collect(await feed.promised());
    feed.subject.next('a');
    expect(backend.leaseOn('promised')?.isHeld()).toBe(true);
    feed.subject.complete();
    expect(await seen.end).toBe('completed');
    expect(seen.values).toEqual(['a']);
    expect(backend.busyKeys).toEqual([]);
  });

  it('releases the lease when it is unsubscribed early', async () => {
    const { feed, backend } = await startFeed();
    const seen = collect(await feed.promised());
    seen.subscription.unsubscribe();
    await backend.standing('promised', 0);
    expect(feed.subject.observed).toBe(false);
  });

  it('errors with the source’s own error, also when the lease was lost', async () => {
    const { feed, backend } = await startFeed();
    const seen = collect(await feed.promised());
    lose(backend, 'promised');
    feed.subject.error(new TypeError('its own'));
    expect(await seen.end).toBeInstanceOf(TypeError);
  });

  it('accepts only one subscription', async () => {
    const { feed } = await startFeed();
    const source = await feed.promised();
    const first = collect(source);
    expect(await collect(source).end).toMatchObject({ code: 'LOCK_CONFIGURATION' });
    feed.subject.complete();
    expect(await first.end).toBe('completed');
  });

  it('keeps the lease while a subscriber exists, although the stream itself is unreferenced', async () => {
    const { feed, backend } = await startFeed();
    const seen = await feed.promised().then((source) => collect(source));
    let isCollected = false;
    const registry = new FinalizationRegistry(() => (isCollected = true));
    registry.register({}, undefined);
    await expect.poll(() => (collectGarbage(), isCollected)).toBe(true);
    await new Promise((resolve) => setImmediate(resolve));
    expect(backend.leaseOn('promised')?.isHeld()).toBe(true);
    feed.subject.complete();
    expect(await seen.end).toBe('completed');
  });

  it('releases the lease when the caller has dropped the stream', async () => {
    const { feed, backend } = await startFeed();
    await feed.abandoned().then((source) => void source);
    expect(backend.contenders('abandoned')).toHaveLength(1);
    await expect.poll(() => (collectGarbage(), backend.contenders('abandoned').length)).toBe(0);
  });
});

describe('an async generator', () => {
  it('acquires its lease at the first next(), and holds it to the end', async () => {
    const { feed, backend } = await startFeed();
    const values = feed.generated(2);
    expect([feed.calls, backend.requests.length]).toEqual([0, 0]);
    expect(await values.next()).toEqual({ done: false, value: '0, 0, generated' });
    expect(backend.leaseOn('generated')?.isHeld()).toBe(true);
    expect(await values.next(7)).toEqual({ done: false, value: '1, 7, generated' });
    expect(await values.next()).toEqual({ done: true, value: 'returned' });
    expect(backend.busyKeys).toEqual([]);
    expect(feed.finished).toEqual(['generated']);
    expect(await values.next()).toEqual({ done: true, value: undefined });
    expect(feed.calls).toBe(1);
  });

  it('keeps the order of calls to next() that were not awaited', async () => {
    const { feed } = await startFeed();
    const values = feed.generated(1);
    expect(await Promise.all([values.next(), values.next(), values.next()])).toEqual([
      { done: false, value: '0, 0, generated' },
      { done: true, value: 'returned' },
      { done: true, value: undefined },
    ]);
  });

  it('releases the lease when its loop is left, after its finally block', async () => {
    const { feed, backend } = await startFeed();
    for await (const value of feed.generated(9)) {
      expect(value).toContain('generated');
      break;
    }
    expect(feed.finished).toEqual(['generated']);
    expect(backend.busyKeys).toEqual([]);
  });

  it('never starts when it is ended before its first value', async () => {
    const { feed, backend } = await startFeed();
    const values = feed.generated(9);
    expect(await values.return('early')).toEqual({ done: true, value: 'early' });
    expect(await values.next()).toEqual({ done: true, value: undefined });
    await expect(feed.generated(9).throw(new TypeError('mine'))).rejects.toThrow('mine');
    expect([feed.calls, backend.requests.length]).toEqual([0, 0]);
  });

  it.each<[string, (values: AsyncGenerator<string>) => Promise<unknown>]>([
    ['ended', (values) => values.return('early')],
    ['ended by an error', (values) => values.throw(new TypeError('mine')).catch(() => {})],
  ])('leaves the queue when it is %s while it waits, and never runs', async (_what, leave) => {
    const { feed, backend, locks } = await startFeed();
    const held = await locks.acquire('queued');
    const values = feed.queued();
    const first = values.next();
    await backend.standing('queued', 2);
    await leave(values);
    await backend.standing('queued', 1);
    expect(await Promise.all([first, values.next()])).toEqual([NOTHING, NOTHING]);
    await held.release();
    expect([feed.calls, backend.busyKeys]).toEqual([0, []]);
  });

  it('gives the lease back when it is ended in the moment of the grant, and never runs', async () => {
    const { feed, backend } = await startFeed();
    const values = feed.queued();
    const first = values.next();
    await backend.standing('queued', 1);
    expect(await values.return('early')).toEqual({ done: true, value: 'early' });
    expect(await first).toEqual(NOTHING);
    await backend.standing('queued', 0);
    expect(feed.calls).toBe(0);
  });

  it('releases the lease when an error is thrown into it', async () => {
    const { feed, backend } = await startFeed();
    const values = feed.generated(9);
    await values.next();
    await expect(values.throw(new TypeError('mine'))).rejects.toThrow('mine');
    expect(backend.busyKeys).toEqual([]);
    expect(feed.finished).toEqual(['generated']);
  });

  it('rejects with its own error, also when the lease was lost, and releases the lease', async () => {
    const { feed, backend } = await startFeed();
    const values = feed.broken();
    await values.next();
    lose(backend, 'broken');
    await expect(values.next()).rejects.toThrow(TypeError);
    expect(await values.next()).toEqual({ done: true, value: undefined });
    expect(backend.busyKeys).toEqual([]);
  });

  it('rejects at its end when the lease was lost in between', async () => {
    const { feed, backend } = await startFeed();
    const values = feed.generated(1);
    await values.next();
    lose(backend, 'generated');
    await expect(values.next()).rejects.toBeInstanceOf(LockLostError);
    expect(await values.next()).toEqual({ done: true, value: undefined });
  });

  it('rejects with the reason why it did not run', async () => {
    const { feed, locks } = await startFeed();
    await expect(new Feed().generated(1).next()).rejects.toMatchObject({ code: 'LOCK_CONFIGURATION' });
    await using _held = await locks.acquire('generated');
    const values = feed.generated(1);
    await expect(values.next()).rejects.toMatchObject({ code: 'LOCK_TIMEOUT' });
    expect(await values.next()).toEqual({ done: true, value: undefined });
    expect(feed.calls).toBe(0);
  });

  it('is empty when it was skipped', async () => {
    const { feed, locks } = await startFeed();
    const collected = async () => {
      const values: string[] = [];
      for await (const value of feed.skippedGenerator()) values.push(value);
      return values;
    };
    expect(await collected()).toEqual(['ran']);
    await using _held = await locks.acquire('generated');
    expect(await collected()).toEqual([]);
  });

  it('releases the lease when the caller has dropped it halfway', async () => {
    const { feed, backend } = await startFeed();
    await feed.generated(9).next();
    await expect.poll(() => (collectGarbage(), backend.contenders('generated').length)).toBe(0);
  });

  it('is disposed of by "await using"', async () => {
    const { feed, backend } = await startFeed();
    {
      await using values = feed.generated(9);
      await values.next();
    }
    expect(backend.busyKeys).toEqual([]);
  });
});

describe('a method that promises an async iterable', () => {
  it('holds the lease until the iterable is finished, and can be consumed once', async () => {
    const { feed, backend } = await startFeed();
    const source = await feed.iterable();
    const values: string[] = [];
    for await (const value of source) values.push(value);
    expect(values).toEqual(['iterable', 'iterable']);
    expect(backend.busyKeys).toEqual([]);
    expect(() => source[Symbol.asyncIterator]()).toThrow('can be consumed once');
  });
});

@Controller()
class StreamController {
  @Get('last')
  @DistributedLock('last')
  last(): Observable<string> {
    return of('one', `${currentLease()?.key}`);
  }

  @Get('promised')
  @DistributedLock('promised')
  async promised() {
    return of('one', `${currentLease()?.key}`);
  }

  @Sse('events')
  @DistributedLock('events')
  events(): Observable<{ data: string }> {
    return of('one', 'two').pipe(map((text) => ({ data: `${text} ${currentLease()?.key}` })));
  }
}

describe('a streaming HTTP handler', () => {
  it('answers with the last value, or with every event', async () => {
    const { app, backend } = await startApp({ controllers: [StreamController] });
    const http = request(app.getHttpServer() as Server);
    expect((await http.get('/last')).text).toBe('last');
    expect((await http.get('/promised')).text).toBe('promised');
    const events = (await http.get('/events')).text;
    expect([...events.matchAll(/^data: (.*)$/gm)].map(([, data]) => data)).toEqual(['one events', 'two events']);
    expect(backend.busyKeys).toEqual([]);
  });
});
