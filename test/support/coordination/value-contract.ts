import { describe, expect, it } from 'vitest';
import { LockConfigurationError } from '../../../lib/index.js';
import type { OpenPair } from './queue-contract.js';

/** Defines the tests that every implementation of shared values must pass. */
export function itSharesValues(open: OpenPair): void {
  describe('a shared value', () => {
    it('is the initial value until the first write, and then the last written value', async () => {
      const { one, other } = await open();
      const value = one.value('v/w', { initial: { n: 0 } });
      const same = other.value('v/w', { initial: { n: 7 } });
      expect(await value.get()).toEqual({ value: { n: 0 }, version: 'absent' });
      await same.set({ n: 1 });
      expect(await value.get()).toEqual({ value: { n: 1 }, version: 0 });
      await value.set({ n: 2 });
      expect(await same.get()).toEqual({ value: { n: 2 }, version: 1 });
      await value.remove();
      await value.remove();
      expect(await same.get()).toEqual({ value: { n: 7 }, version: 'absent' });
    });

    it('is written only from the version that was seen', async () => {
      const { one, other } = await open();
      const [value, same] = [one, other].map((service) => service.value('v', { initial: '' }));
      const absent = await value!.get();
      const first = await value!.compareAndSet(absent, 'a');
      expect(first).toEqual({ value: 'a', version: 0 });
      expect(await same!.compareAndSet(absent, 'b')).toBeNull();
      expect(await same!.compareAndSet(first!, 'c')).toEqual({ value: 'c', version: 1 });
      expect(await value!.compareAndSet(first!, 'd')).toBeNull();
      await value!.remove();
      expect(await value!.compareAndSet({ version: 1 }, 'e')).toBeNull();
      expect(await value!.get()).toEqual({ value: '', version: 'absent' });
    });

    it('shows observers the current value and its changes, skipping to the latest', async () => {
      const { one, other } = await open();
      const abort = new AbortController();
      const seen: number[] = [];
      const value = other.value('v', { initial: 0 });
      for await (const { value: now } of one.value('v', { initial: 0 }).observe({ signal: abort.signal })) {
        seen.push(now);
        if (now === 0) await value.set(1);
        else if (now === 1) for (const next of [2, 3, 4]) await value.set(next);
        else if (now === 4) await value.remove().then(() => value.set(5));
        else if (now === 5) abort.abort();
      }
      expect(seen.filter((now) => now !== 0 || seen[0] !== 0)).toEqual(expect.not.arrayContaining([2, 3]));
      expect(seen.slice(0, 3)).toEqual([0, 1, 4]);
      expect(seen.at(-1)).toBe(5);
    });

    it('is updated by many callers without lost updates', async () => {
      const { one, other } = await open();
      const add = (service: typeof one, name: string) =>
        service.value<string[]>('v', { initial: [] }).update((list) => [...list, name]);
      const names = Array.from({ length: 12 }, (_, n) => `n${n}`);
      await Promise.all(names.map((name, n) => add(n % 2 ? one : other, name)));
      expect((await one.value<string[]>('v', { initial: [] }).get()).value.toSorted()).toEqual(names.toSorted());
    });

    it('is not written when the update function throws', async () => {
      const { one } = await open();
      const error = new Error('no');
      const value = one.value('v', { initial: 1 });
      await expect(value.update(() => Promise.reject(error))).rejects.toBe(error);
      expect((await value.get()).version).toBe('absent');
    });
  });

  describe('a shared counter', () => {
    it('counts each addition once', async () => {
      const { one, other } = await open();
      const counters = [one, other].map((service) => service.counter('c', { initial: 100 }));
      await Promise.all(Array.from({ length: 20 }, (_, n) => counters[n % 2]!.add(n % 2 ? -1 : 2)));
      expect(await counters[0]!.get()).toEqual({ value: 110, version: 19 });
      await counters[0]!.set(-5);
      expect((await counters[1]!.add(-1)).value).toBe(-6);
    });

    it('does not wrap, and refuses a number that is not a 32-bit integer', async () => {
      const { one } = await open();
      const counter = one.counter('c');
      await counter.set(2 ** 31 - 1);
      await expect(counter.add(1)).rejects.toThrow(/value must be a whole number from -2147483648 to 2147483647/);
      await expect(counter.set(0.5)).rejects.toThrow(LockConfigurationError);
      expect((await counter.get()).value).toBe(2 ** 31 - 1);
    });

    it('rejects with LockConfigurationError when the value is no counter', async () => {
      const { one } = await open();
      await one.value('c', { initial: '' }).set('no number');
      await expect(one.counter('c').get()).rejects.toThrow(LockConfigurationError);
      await expect(one.counter('c').get()).rejects.toThrow(/is no counter: it has 11 bytes/);
    });
  });
}
