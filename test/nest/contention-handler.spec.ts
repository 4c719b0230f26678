import 'reflect-metadata';
import { ConflictException, Injectable } from '@nestjs/common';
import { lastValueFrom, Observable, of, toArray } from 'rxjs';
import { describe, expect, it } from 'vitest';
import {
  DistributedLock,
  LeaderOnly,
  LockNotLeaderError,
  LockService,
  LockTimeoutError,
  ReadLock,
  SegmentLock,
  Semaphore,
  WriteLock,
} from '../../lib/index.js';
import type { ContentionContext, LockModuleOptions } from '../../lib/index.js';
import { startApp } from './app.js';

const seen: ContentionContext[] = [];

function busy(context: ContentionContext): string {
  seen.push(context);
  return `busy: ${context.key}`;
}

@Injectable()
class Desk {
  @DistributedLock((name: string) => name, { waitMs: 0, onContention: busy, label: 'the desk' })
  async byName(name: string, _more = 1): Promise<string> {
    return name;
  }

  @DistributedLock('desk', { waitMs: 0, onContention: async ({ key }) => `later: ${key}` })
  async promised(): Promise<string> {
    return 'ran';
  }

  @DistributedLock('desk', {
    waitMs: 0,
    onContention: ({ error }) => {
      throw new ConflictException('try again', { cause: error });
    },
  })
  async conflicting(): Promise<string> {
    return 'ran';
  }

  @DistributedLock('desk', { waitMs: 0, onContention: busy })
  failing(): Promise<string> {
    throw new LockTimeoutError('its own', 1);
  }

  @DistributedLock(['desk', 'other'], { waitMs: 0, onContention: busy })
  async pair(): Promise<string> {
    return 'ran';
  }

  @ReadLock('desk', { waitMs: 0, onContention: busy })
  async read(): Promise<string> {
    return 'ran';
  }

  @WriteLock('desk', { waitMs: 0, onContention: busy })
  async write(): Promise<string> {
    return 'ran';
  }

  @Semaphore('desk', { permits: 1, waitMs: 0, onContention: busy })
  async permit(): Promise<string> {
    return 'ran';
  }

  @SegmentLock({ key: 'desk', segments: 1, waitMs: 0, onContention: busy })
  async segment(): Promise<string> {
    return 'ran';
  }

  @DistributedLock('desk', { waitMs: 0, onContention: busy })
  value(): Observable<string> {
    return of('a', 'b');
  }

  @DistributedLock('desk', { waitMs: 0, onContention: () => of('x', 'y') })
  stream(): Observable<string> {
    return of('a', 'b');
  }

  @DistributedLock('desk', { waitMs: 0, onContention: () => instead() })
  async *generated(): AsyncGenerator<string> {
    yield 'a';
  }

  @DistributedLock('desk', { waitMs: 0, onContention: () => ({ [Symbol.asyncIterator]: instead }) })
  async *iterated(): AsyncGenerator<string> {
    yield 'a';
  }

  @DistributedLock('desk', { waitMs: 0, onContention: () => {} })
  async *emptied(): AsyncGenerator<string> {
    yield 'a';
  }

  @DistributedLock('desk')
  async unsaid(): Promise<string | undefined> {
    return 'ran';
  }

  @DistributedLock('desk', { waitMs: 0, onContention: 'throw' })
  async strict(): Promise<string> {
    return 'ran';
  }

  @LeaderOnly('poller', { onFollower: busy })
  async led(): Promise<string> {
    return 'led';
  }
}

async function* instead(): AsyncGenerator<string> {
  yield 'x';
  yield 'y';
}

async function collected<T>(source: AsyncIterable<T>): Promise<T[]> {
  const values: T[] = [];
  for await (const value of source) values.push(value);
  return values;
}

/** An application in which other callers hold the desk in every mode. */
async function startBusyDesk(options: Partial<LockModuleOptions> = {}) {
  seen.length = 0;
  const { app, backend } = await startApp({ providers: [Desk] }, { drainTimeoutMs: 0, ...options });
  const locks = app.get(LockService);
  const held = await Promise.all([
    locks.acquire('desk'),
    locks.semaphore('desk', { permits: 1 }).acquire(),
    locks.segmented('desk', { segments: 1 }).acquire(),
  ]);
  const letGo = () => Promise.all(held.map((lease) => lease.release()));
  return { desk: app.get(Desk), backend, letGo };
}

describe('a contention handler', () => {
  it('gets key, label, error, arguments and method, and its result is the call’s', async () => {
    const { desk } = await startBusyDesk();
    expect(await desk.byName('desk', 7)).toBe('busy: desk');
    expect(seen).toEqual([
      {
        key: 'desk',
        label: 'the desk',
        error: expect.any(LockTimeoutError),
        args: ['desk', 7],
        className: 'Desk',
        methodName: 'byName',
      },
    ]);
  });

  it('is not called when the key is free', async () => {
    const { desk, letGo } = await startBusyDesk();
    expect(await desk.byName('free')).toBe('free');
    await letGo();
    expect(await desk.promised()).toBe('ran');
    expect(seen).toEqual([]);
  });

  it('may be async, and may throw', async () => {
    const { desk } = await startBusyDesk();
    expect(await desk.promised()).toBe('later: desk');
    await expect(desk.conflicting()).rejects.toMatchObject({ status: 409, cause: { code: 'LOCK_TIMEOUT' } });
  });

  it.each(['pair', 'read', 'write', 'permit', 'segment'] as const)('works with every decorator: %s', async (method) => {
    const { desk } = await startBusyDesk();
    expect(await desk[method]()).toBe('busy: desk');
  });

  it('is not called for an error of the method itself', async () => {
    const { desk, letGo } = await startBusyDesk();
    await letGo();
    await expect(desk.failing()).rejects.toMatchObject({ key: 'its own' });
    expect(seen).toEqual([]);
  });

  it('provides the value of an Observable, or another Observable', async () => {
    const { desk, letGo } = await startBusyDesk();
    const values = () => Promise.all([desk.value(), desk.stream()].map((one) => lastValueFrom(one.pipe(toArray()))));
    expect(await values()).toEqual([['busy: desk'], ['x', 'y']]);
    await letGo();
    expect(await lastValueFrom(desk.value().pipe(toArray()))).toEqual(['a', 'b']);
  });

  it('provides what an async generator iterates instead, or nothing', async () => {
    const { desk, letGo } = await startBusyDesk();
    expect(await collected(desk.generated())).toEqual(['x', 'y']);
    expect(await collected(desk.iterated())).toEqual(['x', 'y']);
    expect(await collected(desk.emptied())).toEqual([]);
    await letGo();
    expect(await collected(desk.generated())).toEqual(['a']);
  });

  it('of @LeaderOnly is called when the instance does not lead', async () => {
    const { desk, backend } = await startBusyDesk();
    await backend.close();
    await expect.poll(() => desk.led()).toBe('busy: poller');
    expect(seen.at(-1)?.error).toBeInstanceOf(LockNotLeaderError);
  });
});

describe('the module’s onContention', () => {
  it("is the default of decorators, and 'skip' makes them ask only once", async () => {
    const { desk, backend } = await startBusyDesk({ onContention: 'skip' });
    expect(await desk.unsaid()).toBeUndefined();
    expect(backend.requests.at(-1)?.wait).toBe(false);
    await expect(desk.strict()).rejects.toBeInstanceOf(LockTimeoutError);
    expect(await desk.promised()).toBe('later: desk');
  });

  it('may be a handler, the default of decorators', async () => {
    const { desk } = await startBusyDesk({ onContention: busy, waitMs: 1 });
    expect(await desk.unsaid()).toBe('busy: desk');
    expect(seen[0]).toMatchObject({ label: 'Desk.unsaid', className: 'Desk', methodName: 'unsaid', args: [] });
    await expect(desk.strict()).rejects.toBeInstanceOf(LockTimeoutError);
  });

  it('does not apply to @LeaderOnly, whose followers skip', async () => {
    const { desk, backend } = await startBusyDesk({ onContention: busy });
    await backend.close();
    await expect.poll(() => desk.led()).toBe('busy: poller');
    expect(seen).toHaveLength(1);
  });
});
