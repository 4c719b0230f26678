import { describe, expect, it } from 'vitest';
import type { CoordinationService, QueueItem } from '../../../lib/index.js';
import { LockConfigurationError } from '../../../lib/index.js';

/** Two applications that share what they coordinate. */
export type OpenPair = () => Promise<{ readonly one: CoordinationService; readonly other: CoordinationService }>;

const valuesOf = <T>(items: readonly QueueItem<T>[]) => items.map(({ value }) => value);

/** Defines the tests that every implementation of queues must pass. */
export function itQueues(open: OpenPair): void {
  describe('a queue', () => {
    it('delivers items first in, first out, to any taker', async () => {
      const { one, other } = await open();
      await one.queue('q').put('a');
      await other.queue('q').putAll(['b', 'c']);
      await one.queue('q').put('d');
      const taken = [];
      for (const service of [one, other, one, other]) taken.push((await service.queue('q').take())!);
      expect(valuesOf(taken)).toEqual(['a', 'b', 'c', 'd']);
      expect(new Set(taken.map(({ id }) => id)).size).toBe(4);
      expect(await one.queue('q').take({ waitMs: 0 })).toBeNull();
      expect(await one.queue('q').size()).toBe(4);
      await Promise.all(taken.map((item) => item.ack()));
      expect(await one.queue('q').size()).toBe(0);
    });

    it.each([[{ n: 1, list: [true, null] }], ['ümläut 🙂'], [0], [''], [null], ['x'.repeat(500_000)]])(
      'returns the value that was put: %.30j',
      async (value) => {
        const { one, other } = await open();
        await one.queue('q').put(value);
        const item = await other.queue('q').take();
        expect(item?.value).toEqual(value);
        await item?.ack();
      },
    );

    it('returns bytes unchanged', async () => {
      const { one, other } = await open();
      const bytes = Uint8Array.of(0, 255, 2, 0, 1);
      await one.queue('q', { codec: 'bytes' }).putAll([bytes, new Uint8Array(0)]);
      const items = await other.queue('q', { codec: 'bytes' }).takeBatch({ atMost: 5 });
      expect(items.map(({ value }) => [...value])).toEqual([[...bytes], []]);
    });

    it('delivers a returned item again, before later items, with the same id', async () => {
      const { one, other } = await open();
      await one.queue('q').putAll([1, 2, 3]);
      const first = (await one.queue('q').take())!;
      const second = (await other.queue('q').take())!;
      await first.nack();
      const again = (await other.queue('q').take())!;
      expect([again.value, again.id]).toEqual([1, first.id]);
      expect(again.fencingToken).toBeGreaterThan(first.fencingToken);
      expect(first.isHeld()).toBe(false);
      await expect(first.ack()).rejects.toMatchObject({ code: 'LOCK_LOST' });
      await second[Symbol.asyncDispose]();
      expect((await one.queue('q').take())?.value).toBe(2);
    });

    it('serves waiting takers in order, and wakes one for each item', async () => {
      const { one, other } = await open();
      const order: unknown[] = [];
      const takes = [];
      for (const [place, service] of [one, other, one, other].entries()) {
        takes.push(
          service
            .queue<number>('q')
            .take()
            .then((item) => void order.push([place, item?.value])),
        );
        await settled(service);
      }
      for (const value of [10, 11, 12, 13]) {
        await one.queue('q').put(value);
        await Promise.race(takes.splice(0, 1));
      }
      expect(order).toEqual([0, 1, 2, 3].map((place) => [place, place + 10]));
    });

    it('delivers a batch in order, and waits for the first item only', async () => {
      const { one, other } = await open();
      const waiting = other.queue<number>('q').takeBatch({ atMost: 3 });
      await one.queue('q').putAll([1, 2, 3, 4, 5]);
      expect(valuesOf(await waiting)).toEqual([1, 2, 3]);
      expect(valuesOf(await other.queue<number>('q').takeBatch({ atMost: 3 }))).toEqual([4, 5]);
      expect(await other.queue('q').takeBatch({ atMost: 3, waitMs: 20 })).toEqual([]);
    });

    it('ends a wait at its timeout, or with the signal’s own reason', async () => {
      const { one } = await open();
      expect(await one.queue('q').take({ waitMs: 30 })).toBeNull();
      const abort = new AbortController();
      const waiting = one.queue('q').take({ signal: abort.signal });
      const reason = new Error('gave up');
      abort.abort(reason);
      await expect(waiting).rejects.toBe(reason);
      await expect(one.queue('q').take({ signal: abort.signal })).rejects.toBe(reason);
      await one.queue('q').put(1);
      expect((await one.queue('q').take({ waitMs: 0 }))?.value).toBe(1);
    });

    it('makes a put wait while the queue is full, until all its values fit', async () => {
      const { one, other } = await open();
      const queue = one.queue<number>('q', { maxItems: 2 });
      await queue.putAll([1, 2]);
      await expect(queue.put(3, { waitMs: 30 })).rejects.toMatchObject({
        code: 'LOCK_TIMEOUT',
        message: /"q" is full/,
      });
      await expect(queue.put(3, { waitMs: 0 })).rejects.toMatchObject({ code: 'LOCK_TIMEOUT' });
      const both = other.queue<number>('q', { maxItems: 2 }).putAll([3, 4]);
      const [first, second] = await one.queue<number>('q').takeBatch({ atMost: 2 });
      await first?.ack();
      expect(await queue.size()).toBe(1);
      await second?.ack();
      await both;
      expect(valuesOf(await one.queue<number>('q').takeBatch({ atMost: 9 }))).toEqual([3, 4]);
      await expect(queue.putAll([1, 2, 3])).rejects.toThrow(LockConfigurationError);
    });

    it('never exceeds its limit, however many puts run at once', async () => {
      const { one, other } = await open();
      const most = { seen: 0 };
      const queues = [one, other].map((service) => service.queue<number>('q', { maxItems: 3 }));
      const puts = Array.from({ length: 20 }, (_, n) => queues[n % 2]!.put(n));
      for (let left = 20; left > 0; left--) {
        const item = (await queues[left % 2]!.take())!;
        most.seen = Math.max(most.seen, await queues[0]!.size());
        await item.ack();
      }
      await Promise.all(puts);
      expect(most.seen).toBeGreaterThan(0);
      expect(most.seen).toBeLessThanOrEqual(3);
    });

    it('delivers every item once to many takers that acknowledge', async () => {
      const { one, other } = await open();
      const values = Array.from({ length: 60 }, (_, n) => n);
      const seen: number[] = [];
      const abort = new AbortController();
      const consume = async (service: CoordinationService) => {
        for await (const item of service.queue<number>('q').consume({ signal: abort.signal, batch: 4 })) {
          seen.push(item.value);
          await item.ack();
          if (seen.length === values.length) abort.abort();
        }
      };
      const consumers = [one, other, one, other].map(consume);
      for (const value of values) await one.queue('q').put(value);
      await Promise.all(consumers);
      expect(seen.toSorted((a, b) => a - b)).toEqual(values);
      expect(await one.queue('q').size()).toBe(0);
    });

    it('returns undelivered items to the queue when a loop ends', async () => {
      const { one, other } = await open();
      await one.queue('q').putAll([1, 2, 3]);
      for await (const item of one.queue('q').consume({ batch: 3 })) {
        await item.ack();
        break;
      }
      expect(valuesOf(await other.queue('q').takeBatch({ atMost: 9 }))).toEqual([2, 3]);
    });

    it('delivers an item that its codec cannot read, so that it can be removed', async () => {
      const { one } = await open();
      await one.queue('q', { codec: 'bytes' }).putAll([Buffer.from('{'), Buffer.from('1')]);
      const broken = (await one.queue('q').take())!;
      expect(() => broken.value).toThrow(SyntaxError);
      await broken.ack();
      expect((await one.queue('q').take())?.value).toBe(1);
    });

    const refusals: readonly (readonly [
      what: string,
      attempt: (service: CoordinationService) => unknown,
      message: RegExp,
    ])[] = [
      [
        'a value that is too large',
        (service) => service.queue('q').put('x'.repeat(600_000)),
        /value must be of at most 524288 bytes/,
      ],
      [
        'too much together',
        (service) => service.queue('q').putAll(['x'.repeat(300_000), 'y'.repeat(300_000)]),
        /values must/,
      ],
      ['no value', (service) => service.queue('q').put(undefined), /value must be something that JSON can say/],
      [
        'a value that JSON cannot say',
        (service) => service.queue('q').put(5n),
        /value must be something that JSON can say/,
      ],
      ['no limit', (service) => service.queue('q', { maxItems: 0 }), /maxItems must be/],
      ['a misspelt option', (service) => service.queue('q', { max: 1 } as object), /unknown field "max"/],
      ['no batch', (service) => service.queue('q').takeBatch({ atMost: 0 }), /atMost must be/],
      ['a wrong codec', (service) => service.queue('q', { codec: 'xml' as never }), /codec must be/],
    ];
    it.each(refusals)('refuses %s', async (_what, attempt, message) => {
      const { one } = await open();
      await expect((async () => attempt(one))()).rejects.toThrow(LockConfigurationError);
      await expect((async () => attempt(one))()).rejects.toThrow(message);
    });
  });
}

/** Lets earlier requests of the service arrive: the reply to a later request comes after their replies. */
async function settled(service: CoordinationService): Promise<void> {
  for (let round = 0; round < 5; round++) await service.queue('another').size();
}
