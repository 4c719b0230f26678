import { describe, expect, it } from 'vitest';
import { deferred } from '../../../lib/async/deferred.js';

describe('deferred', () => {
  it('resolves from outside, once', async () => {
    const { promise, resolve, reject } = deferred<number>();
    resolve(1);
    resolve(2);
    reject(new Error('too late'));
    await expect(promise).resolves.toBe(1);
  });

  it('rejects from outside, with the reason untouched', async () => {
    const { promise, reject } = deferred();
    reject('reason');
    await expect(promise).rejects.toBe('reason');
  });

  it('adopts a promise', async () => {
    const { promise, resolve } = deferred<string>();
    resolve(Promise.resolve('inner'));
    await expect(promise).resolves.toBe('inner');
  });
});
