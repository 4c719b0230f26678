import 'reflect-metadata';
import { Observable, of } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { lockedMethodsOf } from '../../../lib/decorators/locked-method.js';
import { currentLease, DistributedLock, LockReentrancyError, ReadLock, WriteLock } from '../../../lib/index.js';
import { startLocks } from '../service/locks.js';

const Note =
  (text: string) =>
  (_target: object, _name: string, { value }: PropertyDescriptor) => {
    Reflect.defineMetadata(`note ${text}`, text, value);
    Object.assign(value, { [text]: true });
  };

const CONTEXT = Symbol('context');

class Orders {
  @Note('above')
  @DistributedLock((id: string) => id)
  @Note('below')
  async place(id: string, _amount: number, _note = '') {
    return `${id}: ${currentLease()?.key}`;
  }

  @DistributedLock((id: string) => [`${id}/1`, `${id}/2`])
  async two(_id: string) {
    return currentLease()?.key;
  }

  @DistributedLock((id: string) => [`${id}/1`, `${id}/2`], { atomic: true })
  async atOnce(id: string): Promise<string | undefined> {
    return id === 'nested' ? this.place('other', 1) : currentLease()?.key;
  }

  @DistributedLock('outer')
  @ReadLock('inner')
  async both() {
    return currentLease()?.key;
  }

  @DistributedLock('symbol')
  async [CONTEXT]() {
    return currentLease()?.key;
  }

  @WriteLock('elsewhere', { connection: 'elsewhere' })
  async elsewhere() {
    return currentLease()?.mode;
  }

  @DistributedLock('declared')
  declared(): Observable<string> {
    return of('a');
  }

  @DistributedLock('generated')
  async *generated() {
    yield 'a';
  }

  @DistributedLock('sync')
  sync(): never {
    throw new TypeError('at once');
  }
}

function makeOrders() {
  const [main, elsewhere] = [startLocks(), startLocks()];
  const orders = new Orders();
  for (const { slot } of lockedMethodsOf(orders)) {
    slot.bind(orders, slot.connection === 'elsewhere' ? elsewhere.locks : main.locks);
  }
  return { orders, main, elsewhere };
}

describe('a locked method', () => {
  it('has the name, length and own properties of the method', () => {
    const { place } = Orders.prototype;
    expect([place.name, place.length]).toEqual(['place', 2]);
    expect(Object.entries(place)).toEqual([
      ['below', true],
      ['above', true],
    ]);
    expect(Object.getOwnPropertyDescriptor(Orders.prototype, 'place')).toMatchObject({
      enumerable: false,
      writable: true,
    });
    expect(Orders.prototype[CONTEXT].name).toBe('[context]');
  });

  it('keeps the metadata of decorators below, and accepts metadata of decorators above', () => {
    const { place } = Orders.prototype;
    expect(Reflect.getOwnMetadataKeys(place)).toEqual(['note below', 'note above']);
    expect(Reflect.getMetadata('note below', place)).toBe('below');
    expect(Reflect.getMetadata('design:paramtypes', Orders.prototype, 'place')).toEqual([String, Number, Object]);
  });

  it('takes its key from the arguments', async () => {
    const { orders, main } = makeOrders();
    expect(await orders.place('a', 1)).toBe('a: a');
    expect(await orders.two('b')).toBe('b/1, b/2');
    expect(await orders[CONTEXT]()).toBe('symbol');
    expect(main.backend.requests.map(({ key }) => key)).toEqual(['a', 'b/1', 'b/2', 'symbol']);
    expect(main.backend.requests.at(-1)?.label).toBe('Orders.Symbol(context)');
  });

  it.each<[string, Parameters<typeof DistributedLock>, string]>([
    [
      'a warm atomic set',
      [['a', 'b'], { atomic: true, keepMs: 1_000 }],
      'keepMs must be 0, or not be given, with atomic',
    ],
    ['a warm atomic set of any keys', [() => ['a'], { atomic: true, keepMs: 1_000 }], 'keepMs must be 0'],
    ['an atomic set in a local queue', [['a'], { atomic: true, localLine: true }], 'localLine must be false'],
    ['several keys without a queue', [['a', 'b'], { line: 'none' }], "line 'none' goes with one key, not with several"],
    [
      'a large atomic set',
      [Array.from({ length: 1_001 }, (_, number) => `${number}`), { atomic: true }],
      'keys must be at most 1000 with atomic, got 1001',
    ],
  ])('is refused when the class is loaded: %s', (_what, [keys, refused], message) => {
    const decorate = () => DistributedLock(keys, refused)(Orders.prototype, 'both', { value: async () => {} } as never);
    expect(decorate).toThrow(`@DistributedLock on Orders.both: ${message}`);
  });

  it('may be an atomic set, and then refuses further acquisitions', async () => {
    const { orders, main } = makeOrders();
    expect(await orders.atOnce('b')).toBe('b/1, b/2');
    await expect(orders.atOnce('nested')).rejects.toBeInstanceOf(LockReentrancyError);
    expect(main.backend.busyKeys).toEqual([]);
    const decorate = (atomic: unknown, line?: 'none') =>
      DistributedLock('a', { atomic: atomic as boolean, ...(line && { line }) })(Orders.prototype, 'both', {
        value: async () => {},
      });
    expect(() => decorate('yes')).toThrow('atomic must be true or false');
    expect(() => decorate(true, 'none')).toThrow("atomic must be false where line is 'none'");
  });

  it('may have two locks, the upper one outside', async () => {
    const { orders, main } = makeOrders();
    expect(await orders.both()).toBe('inner');
    expect(main.backend.requests.map(({ key, mode }) => [key, mode])).toEqual([
      ['outer', 'exclusive'],
      ['inner', 'read'],
    ]);
  });

  it('uses the named connection', async () => {
    const { orders, main, elsewhere } = makeOrders();
    expect(await orders.elsewhere()).toBe('write');
    expect([main.backend.requests.length, elsewhere.backend.requests.length]).toEqual([0, 1]);
  });

  it('is a promise, a cold Observable or an async generator, as declared', async () => {
    const { orders, main } = makeOrders();
    const generated = orders.generated();
    expect([orders.declared() instanceof Observable, generated[Symbol.asyncIterator]() === generated]).toEqual([
      true,
      true,
    ]);
    expect(main.backend.requests).toEqual([]);
  });

  it('rejects with an error that the method throws synchronously', async () => {
    const { orders, main } = makeOrders();
    await expect(Promise.resolve(orders.sync())).rejects.toThrow('at once');
    expect(main.backend.busyKeys).toEqual([]);
  });
});
