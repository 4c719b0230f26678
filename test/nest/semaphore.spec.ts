import 'reflect-metadata';
import { Injectable } from '@nestjs/common';
import { describe, expect, it } from 'vitest';
import { deferred } from '../../lib/async/deferred.js';
import { currentLease, LockService, Semaphore } from '../../lib/index.js';
import type { SemaphoreDecoratorOptions } from '../../lib/index.js';
import { startApp } from './app.js';

@Injectable()
class Pdf {
  private readonly pool = 'pdf';

  @Semaphore('pdf', { permits: 2, waitMs: 1 })
  async render(during: () => unknown = () => {}): Promise<unknown> {
    await during();
    return currentLease()?.mode;
  }

  @Semaphore((tenant: string) => `tenant/${tenant}`, { permits: 3, permitsPerCall: 2, onContention: 'skip' })
  async renderAll(_tenant: string, during: () => unknown): Promise<string | undefined> {
    await during();
    return 'rendered';
  }

  @Semaphore(
    function (this: Pdf) {
      return `${this.pool}/nested`;
    },
    { permits: 2 },
  )
  async nested(depth: number): Promise<number> {
    return depth === 0 ? 0 : 1 + (await this.nested(depth - 1));
  }

  @Semaphore('feed', { permits: 1, label: 'the feed' })
  async *feed() {
    yield currentLease()?.isHeld();
    yield currentLease()?.isHeld();
  }
}

async function startPdf() {
  const { app, backend } = await startApp({ providers: [Pdf] });
  return { pdf: app.get(Pdf), locks: app.get(LockService), backend };
}

describe('@Semaphore', () => {
  it('runs as many concurrent calls as there are permits', async () => {
    const { pdf, backend } = await startPdf();
    const [allIn, mayLeave] = [deferred(), deferred()];
    let inside = 0;
    const during = () => {
      if (++inside === 2) allIn.resolve();
      return mayLeave.promise;
    };
    const calls = [pdf.render(during), pdf.render(during)];
    await allIn.promise;
    await expect(pdf.render()).rejects.toMatchObject({ name: 'LockTimeoutError', key: 'pdf', status: 423 });
    mayLeave.resolve();
    expect(await Promise.all(calls)).toEqual(['permit', 'permit']);
    expect(backend.busyKeys).toEqual([]);
    expect(new Set(backend.requests.map(({ label }) => label))).toEqual(new Set(['Pdf.render']));
  });

  it('acquires several permits per call, with a key from the arguments, and skips on request', async () => {
    const { pdf } = await startPdf();
    const inner = deferred<unknown[]>();
    await pdf.renderAll('a', async () => {
      // Called outside of the method: inside it, two permits are already held.
      inner.resolve(await pdf.renderAll('b', () => {}).then((result) => [result]));
    });
    expect(await inner.promise).toEqual(['rendered']);
    const [began, mayLeave] = [deferred(), deferred()];
    const first = pdf.renderAll('a', () => (began.resolve(), mayLeave.promise));
    await began.promise;
    expect(await pdf.renderAll('a', () => expect.unreachable())).toBeUndefined();
    mayLeave.resolve();
    expect(await first).toBe('rendered');
  });

  it('acquires further permits in nested calls, and refuses calls that could only wait for themselves', async () => {
    const { pdf } = await startPdf();
    expect(await pdf.nested(1)).toBe(1);
    await expect(pdf.nested(2)).rejects.toMatchObject({ code: 'LOCK_REENTRANCY', status: 500 });
  });

  it('is resized beside the service', async () => {
    const { pdf, locks } = await startPdf();
    await locks.semaphore('pdf', { permits: 2 }).setPermits(1);
    const inner = deferred();
    await pdf.render(async () => {
      await expect(locks.semaphore('pdf', { permits: 2 }).permits()).resolves.toBe(1);
      inner.resolve();
    });
    await inner.promise;
  });

  it('holds its permit until a stream has ended', async () => {
    const { pdf, backend } = await startPdf();
    const seen: unknown[] = [];
    for await (const held of pdf.feed()) seen.push(held, backend.contenders('feed').length);
    expect(seen).toEqual([true, 1, true, 1]);
    expect(backend.busyKeys).toEqual([]);
    expect(backend.requests[0]?.label).toBe('the feed');
  });

  it.each([
    [{}, '@Semaphore on Wrong.method: permits must be a whole number from 1 to 10000, got undefined'],
    [{ permits: 0 }, '@Semaphore on Wrong.method: permits must be a whole number'],
    [
      { permits: 2, permitsPerCall: 3 },
      '@Semaphore on Wrong.method: permitsPerCall must be at most the 2 that there are',
    ],
    [{ permits: 2, permitsPerCall: 0 }, '@Semaphore on Wrong.method: permitsPerCall must be a whole number'],
    [{ permits: 2, localLine: true }, '@Semaphore on Wrong.method: unknown field "localLine"'],
    [{ permits: 2, sharedCount: '' }, '@Semaphore on Wrong.method: sharedCount must be a key'],
  ])('refuses %j when the class is loaded', (options, message) => {
    const decorate = () => {
      class Wrong {
        @Semaphore('k', options as SemaphoreDecoratorOptions)
        async method() {}
      }
      return Wrong;
    };
    expect(decorate).toThrow(message);
  });
});
