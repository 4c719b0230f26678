import asyncHooks from 'node:async_hooks';
import { describe, expect, it } from 'vitest';
import { outsideOfAll, sharedAsyncHooks } from './async-context.js';

interface Storage<T> {
  getStore(): T | undefined;
  run<R>(store: T, work: (...args: unknown[]) => R, ...args: unknown[]): R;
  exit<R>(work: (...args: unknown[]) => R, ...args: unknown[]): R;
  enterWith(store: T): void;
}
type Make = <T>() => Storage<T>;

const turn = () => new Promise<void>((resolve) => setImmediate(resolve));

/** Programs that resolve with the stores that they have seen. */
const PROGRAMS: Readonly<Record<string, (make: Make) => Promise<unknown[]>>> = {
  'nothing outside of a run, and an answer': async (make) => {
    const storage = make<number>();
    return [storage.getStore(), storage.run(1, (a, b) => [storage.getStore(), a, b], 'a', 'b'), storage.getStore()];
  },
  'nested, and two of them': async (make) => {
    const [one, other] = [make<number>(), make<string>()];
    return one.run(1, () =>
      other.run('a', () => [
        one.run(2, () => [one.getStore(), other.getStore()]),
        other.run('b', () => [one.getStore(), other.getStore()]),
        [one.getStore(), other.getStore()],
      ]),
    );
  },
  exit: async (make) => {
    const [one, other] = [make<number>(), make<number>()];
    return one.run(1, () => other.run(2, () => [one.exit(() => [one.getStore(), other.getStore()]), one.getStore()]));
  },
  'a throw leaves the run': async (make) => {
    const storage = make<number>();
    const failing = () => {
      throw new Error('on purpose');
    };
    try {
      storage.run(1, failing);
    } catch {}
    return [storage.getStore()];
  },
  'promises, ticks, microtasks, timers and immediates': async (make) => {
    const storage = make<number>();
    const seen: unknown[] = [];
    const look = () => void seen.push(storage.getStore());
    await storage.run(1, async () => {
      process.nextTick(look);
      queueMicrotask(look);
      setImmediate(look);
      await turn();
      look();
      await storage.run(2, async () => {
        await turn();
        look();
      });
      look();
      await new Promise<void>((resolve) => {
        setTimeout(() => {
          look();
          resolve();
        }, 1);
      });
      await Promise.reject(new Error('on purpose')).catch(look);
    });
    look();
    return seen;
  },
  'a promise goes on where it was awaited, not where it was settled': async (make) => {
    const storage = make<string>();
    const { promise, resolve } = withResolvers();
    const awaiting = storage.run('awaits', async () => {
      await promise;
      return storage.getStore();
    });
    storage.run('settles', () => resolve());
    return [await awaiting];
  },
  'enterWith lasts to the end of the callback and what comes of it': async (make) => {
    const storage = make<number>();
    const seen: unknown[] = [];
    await new Promise<void>((resolve) => {
      const enter = async () => {
        storage.enterWith(1);
        seen.push(storage.getStore());
        await turn();
        seen.push(storage.getStore());
        storage.run(2, () => seen.push(storage.getStore()));
        resolve();
      };
      setImmediate(() => void enter());
    });
    return [...seen, storage.getStore()];
  },
  'two that run at once do not see each other': async (make) => {
    const storage = make<number>();
    const seen = (store: number) =>
      storage.run(store, async () => {
        const all: unknown[] = [];
        for (let count = 0; count < 3; count++) {
          await turn();
          all.push(storage.getStore());
        }
        return all;
      });
    return Promise.all([seen(1), seen(2)]);
  },
};

function withResolvers() {
  let resolve = () => {};
  const promise = new Promise<void>((resolved) => (resolve = resolved));
  return { promise, resolve };
}

describe('the async context of simulated processes', () => {
  it.each(Object.entries(PROGRAMS))('behaves like that of Node: %s', async (_name, program) => {
    // Each program runs outside of the others' contexts, and does not see what they leave behind.
    const ofNode = await outsideOf(() => program(<T>() => new asyncHooks.AsyncLocalStorage<T>()));
    const shared = await outsideOf(() => program(<T>() => new sharedAsyncHooks.AsyncLocalStorage<T>()));
    expect(shared).toEqual(ofNode);
    expect(ofNode.length).toBeGreaterThan(0);
  });

  it('is empty for events from outside', () => {
    const storage = new sharedAsyncHooks.AsyncLocalStorage<number>();
    storage.run(1, () => outsideOfAll(() => expect(storage.getStore()).toBeUndefined()));
  });
});

function outsideOf<T>(action: () => Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    outsideOfAll(() => void setImmediate(() => void action().then(resolve, reject)));
  });
}
