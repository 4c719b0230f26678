/** The decorated methods that the compiler must accept and refuse. Nothing here runs; `tsc` is the test. */
import { Readable } from 'node:stream';
import { Observable, of, Subject } from 'rxjs';
import { DistributedLock, ReadLock, WriteLock } from '../../lib/index.js';
import type { ContentionHandler, DistributedLockOptions, OnContention } from '../../lib/index.js';

interface Order {
  readonly id: string;
}

declare const orders: Promise<Order>;
declare const widened: OnContention;
declare const namedHandler: ContentionHandler<Promise<string>>;
declare function text(...parts: (string | number)[]): string;

class ThenableOfItsOwn extends Promise<string> {
  readonly extra = true;
}

export class Accepted {
  private readonly prefix = 'order';

  @DistributedLock('key')
  async plain() {}

  @DistributedLock('key', {})
  declared(): Promise<Order> {
    return orders;
  }

  @DistributedLock(['a', 'b'])
  async several(): Promise<number> {
    return 1;
  }

  @DistributedLock((order: Order) => `order/${order.id}`)
  async byArgument(_order: Order, _more?: number) {}

  @DistributedLock((a: string, b: string) => [a, b])
  async byArguments(_a: string, _b: string) {}

  @DistributedLock((id: string | number) => String(id))
  async byWiderParameter(_id: string) {}

  @DistributedLock((...ids: string[]) => ids)
  async byRest(..._ids: string[]) {}

  @DistributedLock(function (this: Accepted, id: string) {
    return `${this.prefix}/${id}`;
  })
  async byInstance(_id: string) {}

  @DistributedLock((id: string) => id)
  async generic<T extends string>(_id: T): Promise<T> {
    throw new TypeError();
  }

  @DistributedLock('key')
  async never(): Promise<never> {
    throw new TypeError();
  }

  @DistributedLock('key')
  either(): Promise<string> | Promise<number> {
    return Promise.resolve(1);
  }

  @DistributedLock('key')
  thenable(): PromiseLike<string> {
    return Promise.resolve('');
  }

  @DistributedLock('key')
  unknownToTheCompiler() {
    return JSON.parse('1');
  }

  @DistributedLock('key')
  observable(): Observable<string> {
    return of('a');
  }

  @DistributedLock('key')
  async *generator() {
    yield 1;
  }

  @DistributedLock('key')
  async *typedGenerator(): AsyncGenerator<number, string, boolean> {
    yield 1;
    return '';
  }

  @DistributedLock('key')
  async *iterable(): AsyncIterable<number> {
    yield 1;
  }

  @DistributedLock('key')
  async promisedStream(): Promise<Observable<string> | undefined> {
    return of('a');
  }

  @DistributedLock('key', { onContention: 'skip' })
  async skippedVoid() {}

  @DistributedLock('key', { onContention: 'skip', line: 'none', waitMs: 0, connection: 'other' })
  async skippedMaybe(): Promise<Order | undefined> {
    return orders;
  }

  @DistributedLock('key', { onContention: 'skip' })
  skippedObservable(): Observable<string | undefined> {
    return of('a');
  }

  @DistributedLock('key', { onContention: 'skip' })
  async *skippedGenerator() {
    yield 1;
  }

  @DistributedLock('key', { onContention: 'throw' })
  async thrown(): Promise<Order> {
    return orders;
  }

  @DistributedLock('key', {
    onContention: ({ key, label, error, args, className, methodName }) =>
      text(key, label, error.code, args.length, className, methodName),
  })
  async handled(): Promise<string> {
    return '';
  }

  @DistributedLock('key', { onContention: async ({ key }) => key })
  async handledLater(): Promise<string> {
    return '';
  }

  @DistributedLock('key', { onContention: ({ error }) => Promise.reject(error) })
  async handledByRejection(): Promise<Order> {
    return orders;
  }

  @WriteLock('key', {
    onContention: () => {
      throw new TypeError();
    },
  })
  async handledByThrowing(): Promise<Order> {
    return orders;
  }

  @ReadLock('key', { onContention: ({ label }) => void label })
  async handledVoid(): Promise<void> {}

  @DistributedLock('key', { onContention: () => 'a result that nobody looks at' })
  async handledForNothing(): Promise<void> {}

  @DistributedLock('key', { onContention: () => {} })
  async handledMaybe(): Promise<Order | undefined> {
    return orders;
  }

  @DistributedLock('key', { onContention: () => 'a' })
  handledObservable(): Observable<string> {
    return of('a');
  }

  @DistributedLock('key', { onContention: async () => of('a') })
  handledByObservable(): Observable<string> {
    return of('a');
  }

  @DistributedLock('key', { onContention: async function* () {} })
  async *handledGenerator(): AsyncGenerator<number> {
    yield 1;
  }

  @DistributedLock((id: string) => id, {
    onContention: namedHandler,
    maxHeldMs: 5,
    warnHeldMs: false,
    overdueGraceMs: Infinity,
  })
  async handledByName(_id: string): Promise<string> {
    return '';
  }

  @ReadLock((id: string) => id)
  @WriteLock('key', { onContention: 'skip', waitMs: 5, onLost: 'ignore', label: 'l', reentrant: false })
  async stacked(_id: string): Promise<void> {}
}

export class Refused {
  // @ts-expect-error a sync method cannot wait for a lock
  @DistributedLock('key')
  sync() {
    return 1;
  }

  // @ts-expect-error a sync method cannot wait for a lock, also if it returns nothing
  @WriteLock('key')
  syncVoid(): void {}

  // @ts-expect-error a method that is only sometimes async cannot wait either
  @DistributedLock('key')
  sometimes(): Promise<string> | string {
    return '';
  }

  // @ts-expect-error the caller would get a plain Promise
  @DistributedLock('key')
  special(): ThenableOfItsOwn {
    throw new TypeError();
  }

  // @ts-expect-error the caller would get a plain Observable
  @DistributedLock('key')
  subject(): Subject<string> {
    return new Subject();
  }

  // @ts-expect-error the caller would get a plain async iterable
  @DistributedLock('key')
  readable(): Readable {
    return Readable.from([]);
  }

  // @ts-expect-error the caller would get a promise of a plain async iterable
  @DistributedLock('key')
  async promisedReadable(): Promise<Readable | undefined> {
    return undefined;
  }

  // @ts-expect-error static methods have no instance
  @DistributedLock('key')
  static async all() {}

  // @ts-expect-error an accessor cannot wait
  @DistributedLock('key')
  get total(): Promise<number> {
    return Promise.resolve(0);
  }

  // @ts-expect-error a property is no method
  @DistributedLock('key')
  readonly arrow = async () => {};

  // @ts-expect-error the key function takes another type
  @DistributedLock((id: number) => `order/${id}`)
  async wrongType(_id: string) {}

  // @ts-expect-error the key function takes another type
  @ReadLock((...ids: number[]) => ids.join())
  async wrongRest(..._ids: string[]) {}

  // @ts-expect-error the key function takes more than the method
  @DistributedLock((a: string, b: string) => `${a}/${b}`)
  async tooMany(_a: string) {}

  // @ts-expect-error the key function wants what the method may not get
  @DistributedLock((id: string) => id)
  async optional(_id?: string) {}

  // @ts-expect-error a key is text
  @DistributedLock((id: number) => id)
  async noText(_id: number) {}

  // @ts-expect-error a key is known at once
  @DistributedLock(async (id: string) => id)
  async asyncKey(_id: string) {}

  // @ts-expect-error several keys are for DistributedLock only
  @ReadLock(['a', 'b'])
  async severalReads() {}

  // @ts-expect-error several keys are for DistributedLock only
  @WriteLock((id: string) => [id])
  async severalWrites(_id: string) {}

  // @ts-expect-error a skipped call resolves to undefined
  @DistributedLock('key', { onContention: 'skip' })
  async skipped(): Promise<Order> {
    return orders;
  }

  // @ts-expect-error a call that may be skipped may resolve to undefined
  @ReadLock('key', { onContention: widened })
  async maybeSkipped(): Promise<Order> {
    return orders;
  }

  // @ts-expect-error the handler yields something else
  @DistributedLock('key', { onContention: () => 5 })
  async wronglyHandled(): Promise<string> {
    return '';
  }

  // @ts-expect-error a promise of something else
  @WriteLock('key', { onContention: async ({ key }) => key })
  async wronglyHandledLater(): Promise<Order> {
    return orders;
  }

  // @ts-expect-error the handler returns nothing
  @DistributedLock('key', { onContention: ({ key }) => void key })
  async handledByNothing(): Promise<Order> {
    return orders;
  }

  // @ts-expect-error the handler emits something else
  @DistributedLock('key', { onContention: () => of(5) })
  wronglyHandledObservable(): Observable<string> {
    return of('a');
  }

  // @ts-expect-error the handler returns nothing that can be iterated
  @DistributedLock('key', { onContention: () => 5 })
  async *wronglyHandledGenerator(): AsyncGenerator<number> {
    yield 1;
  }

  // @ts-expect-error a handler takes the context
  @DistributedLock('key', { onContention: (context: string) => context })
  async wrongHandler(): Promise<string> {
    return '';
  }

  // @ts-expect-error a limit is a number of milliseconds, or false
  @DistributedLock('key', { maxHeldMs: true })
  async wrongLimit() {}

  // @ts-expect-error a skipped call emits undefined
  @DistributedLock('key', { onContention: 'skip' })
  skippedObservable(): Observable<string> {
    return of('a');
  }

  // @ts-expect-error an unknown option
  @DistributedLock('key', { waitMS: 5 })
  async misspelt() {}

  // @ts-expect-error one right option does not excuse a wrong one
  @DistributedLock('key', { waitMs: 5, timeout: 5 })
  async halfRight() {}

  // @ts-expect-error a reader is always queued
  @ReadLock('key', { line: 'none' })
  async readWithoutLine() {}
}

export const shared: DistributedLockOptions = { waitMs: 5 };

export class WithSharedOptions {
  @DistributedLock('key', { ...shared, label: 'l' })
  async spread(): Promise<void> {}
}
