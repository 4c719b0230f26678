import 'reflect-metadata';
import { setTimeout } from 'node:timers/promises';
import { Controller, Get, Injectable } from '@nestjs/common';
import { describe, expect, it } from 'vitest';
import { deferred } from '../../lib/async/deferred.js';
import type { Deferred } from '../../lib/async/deferred.js';
import { assertHeld, currentLease, DistributedLock, LockLostError, LockShutdownError } from '../../lib/index.js';
import type { Lease, LockModuleExtras } from '../../lib/index.js';
import { startApp } from './app.js';
import { serve } from './platforms.js';

@Injectable()
class Jobs {
  lease: Lease | undefined;
  entered = deferred();
  readonly #mayEnd: Deferred<string> = deferred<string>();

  end(result = 'done'): void {
    this.#mayEnd.resolve(result);
  }

  fail(error: Error): void {
    this.#mayEnd.reject(error);
  }

  @DistributedLock('job')
  async strict() {
    return this.work();
  }

  @DistributedLock('job', { onLost: 'ignore' })
  async lenient() {
    return this.work();
  }

  @DistributedLock('job')
  async untilAborted() {
    this.lease = currentLease();
    this.entered.resolve();
    const aborted = deferred<unknown>();
    this.lease?.signal.addEventListener('abort', () => aborted.resolve(this.lease?.signal.reason));
    throw await aborted.promise;
  }

  private async work() {
    this.lease = assertHeld();
    this.entered.resolve();
    return this.#mayEnd.promise;
  }
}

async function startJobs(drainTimeoutMs = 60_000) {
  const { app, backend } = await startApp({ providers: [Jobs] }, { drainTimeoutMs });
  return { app, jobs: app.get(Jobs), backend };
}

async function loseWhile(method: 'strict' | 'lenient') {
  const { jobs, backend } = await startJobs();
  const running = jobs[method]();
  running.catch(() => {});
  await jobs.entered.promise;
  backend.leaseOn('job')?.lose(new LockLostError('job', 'test'));
  return { jobs, backend, running };
}

describe('a lease that is lost while the method runs', () => {
  it('aborts the signal at once, and rejects when the method has ended', async () => {
    const { jobs, backend, running } = await loseWhile('strict');
    expect(jobs.lease?.signal.aborted).toBe(true);
    expect(jobs.lease?.signal.reason).toBeInstanceOf(LockLostError);
    expect(jobs.lease?.isHeld()).toBe(false);
    let hasEnded = false;
    running.catch(() => (hasEnded = true));
    await new Promise((resolve) => setImmediate(resolve));
    expect(hasEnded).toBe(false);
    jobs.end();
    await expect(running).rejects.toBeInstanceOf(LockLostError);
    expect(backend.busyKeys).toEqual([]);
  });

  it("returns the result with onLost: 'ignore'", async () => {
    const { jobs, running } = await loseWhile('lenient');
    jobs.end('result');
    expect(await running).toBe('result');
  });

  it('keeps the method’s own error', async () => {
    const { jobs, running } = await loseWhile('strict');
    jobs.fail(new TypeError('its own'));
    await expect(running).rejects.toThrow(TypeError);
  });
});

describe('app.close()', () => {
  it('rejects waiting calls, lets running ones finish, and leaves nothing', async () => {
    const { app, jobs, backend } = await startJobs();
    const running = jobs.strict();
    await jobs.entered.promise;
    const waiting = expect(jobs.strict()).rejects.toBeInstanceOf(LockShutdownError);
    await backend.standing('job', 2);
    const closing = app.close();
    await waiting;
    expect(jobs.lease?.isHeld()).toBe(true);
    expect(backend.closes).toBe(0);
    jobs.end();
    await closing;
    expect(await running).toBe('done');
    expect([backend.closes, backend.busyKeys]).toEqual([1, []]);
    await expect(jobs.strict()).rejects.toMatchObject({ code: 'LOCK_SHUTDOWN' });
  });

  it('ends the leases of calls that run longer than drainTimeoutMs', async () => {
    const { app, jobs, backend } = await startJobs(1);
    const running = expect(jobs.untilAborted()).rejects.toBeInstanceOf(LockShutdownError);
    await jobs.entered.promise;
    await app.close();
    await running;
    expect(jobs.lease?.state).toBe('lost');
    expect([backend.closes, backend.busyKeys]).toEqual([1, []]);
  });

  // Nest waits for open requests before it reports the shutdown of the application.
  it.each(['express', 'fastify'] as const)('ends the leases of requests that stay open, on %s', async (platform) => {
    const entered = deferred();
    @Controller()
    class Hung {
      @Get()
      @DistributedLock('job')
      async hang() {
        entered.resolve();
        await setTimeout(3_600_000, undefined, { signal: currentLease()!.signal });
      }
    }
    const options = { drainTimeoutMs: 50 } as LockModuleExtras;
    const { app, backend, url } = await serve({ controllers: [Hung] }, options, () => {}, platform);
    const answer = fetch(url, { headers: { connection: 'close' } });
    await entered.promise;
    const closing = app.close();
    const { status } = await answer;
    expect(status).toBe(503);
    await closing;
    expect([backend.closes, backend.busyKeys]).toEqual([1, []]);
  });
});
