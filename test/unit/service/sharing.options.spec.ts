import 'reflect-metadata';
import { describe, expect, it, vi } from 'vitest';
import { LockConfigurationError } from '../../../lib/contract/errors.js';
import { DistributedLock, ReadLock, SegmentLock, WriteLock } from '../../../lib/index.js';
import type { LockService } from '../../../lib/service/lock.service.js';
import { resolveSharingOptions, SHARING_DEFAULTS } from '../../../lib/service/lock-service.options.js';
import type { SharingOptions } from '../../../lib/service/lock-service.options.js';
import { settled } from '../local/callers.js';
import { startLocks } from './locks.js';

// The clock is fixed, so the time limit for hand-overs is never reached, however slow the machine is.
vi.mock('../../../lib/async/clock.js', async (original) => ({ ...(await original<object>()), now: () => 1_000 }));

const LONGEST_MS = 2 ** 31 - 1;

describe('the way in which callers of one process share a key', () => {
  it('is a local queue without warm leases by default', () => {
    expect(resolveSharingOptions({}, SHARING_DEFAULTS)).toEqual({ localLine: true, keepMs: 0 });
    expect(Object.isFrozen(SHARING_DEFAULTS)).toBe(true);
  });

  it('is the module’s by default', () => {
    const module = { localLine: true, keepMs: 500 };
    expect(resolveSharingOptions({}, module)).toEqual(module);
    expect(resolveSharingOptions({ keepMs: 7 }, module)).toEqual({ localLine: true, keepMs: 7 });
    expect(resolveSharingOptions({ localLine: false }, module)).toEqual({ localLine: false, keepMs: 0 });
    expect(resolveSharingOptions({ keepMs: LONGEST_MS }, module).keepMs).toBe(LONGEST_MS);
  });

  it('is a local queue for a lock with keepMs, unless the lock disables it', () => {
    const module = { localLine: false, keepMs: 0 };
    expect(resolveSharingOptions({ keepMs: 7 }, module)).toEqual({ localLine: true, keepMs: 7 });
    expect(resolveSharingOptions({ keepMs: 0 }, module)).toEqual(module);
  });
});

const WRONG: [options: object, message: string][] = [
  [{ localLine: 'yes' }, 'localLine must be true or false, got the string "yes"'],
  [{ localLine: 1 }, 'localLine must be true or false, got the number 1'],
  [{ keepMs: -1 }, `keepMs must be a number of milliseconds, from 0 to ${LONGEST_MS}, got the number -1`],
  [{ keepMs: '5s' }, 'keepMs must be a number of milliseconds'],
  [{ keepMs: NaN }, 'keepMs must be a number of milliseconds'],
  [{ keepMs: LONGEST_MS + 1 }, 'keepMs must be a number of milliseconds'],
  [{ localLine: false, keepMs: 5 }, 'keepMs must be 0 where localLine is false, got the number 5'],
];

describe('a wrong sharing option', () => {
  it.each(WRONG)('is refused by every lock: %o', (wrong, message) => {
    const { locks } = startLocks();
    const options = wrong as SharingOptions;
    const making = [
      () => locks.mutex('k', options),
      () => locks.readWriteLock('k', options),
      () => locks.multi(['k'], options),
    ];
    for (const make of making) {
      expect(make).toThrow(LockConfigurationError);
      expect(make).toThrow(message);
    }
  });

  it.each(WRONG)('is refused by every decorator, with the place: %o', (wrong, message) => {
    const decorators = [DistributedLock, ReadLock, WriteLock].map((decorator) => () => {
      class Desk {
        async work(): Promise<void> {}
      }
      const descriptor = Object.getOwnPropertyDescriptor(Desk.prototype, 'work')!;
      decorator('k', wrong)(Desk.prototype, 'work', descriptor as never);
    });
    for (const decorate of decorators) {
      expect(decorate).toThrow(LockConfigurationError);
      expect(decorate).toThrow(message);
      expect(decorate).toThrow('Desk.work');
    }
  });

  it('is also an unknown field', () => {
    const { locks } = startLocks();
    expect(() => locks.mutex('k', { keepMS: 5 } as never)).toThrow('unknown field "keepMS"');
    expect(() => locks.readWriteLock('k', { line: 'fifo' } as never)).toThrow('unknown field "line"');
  });

  it('is also one that @SegmentLock does not support', () => {
    const decorate = () => {
      class Desk {
        async work(): Promise<void> {}
      }
      const descriptor = Object.getOwnPropertyDescriptor(Desk.prototype, 'work')!;
      SegmentLock({ key: 'k', segments: 2, localLine: false } as never)(Desk.prototype, 'work', descriptor as never);
    };
    expect(decorate).toThrow('unknown field "localLine"');
  });
});

describe('a lock', () => {
  /** Returns how many contenders the backend has for a holder and a waiter. */
  async function contendersOf(
    module: SharingOptions,
    lockOf: (locks: LockService) => { acquire(): Promise<{ release(): Promise<void> }> },
  ): Promise<number> {
    const { locks, backend } = startLocks({ localLine: true, ...module });
    const lock = lockOf(locks);
    const held = await lock.acquire();
    const waiting = lock.acquire();
    await settled();
    const count = backend.contenders('k').length;
    await held.release();
    await (await waiting).release();
    return count;
  }

  it.each([
    ['the default', {}, {}, 1],
    ['the module', { localLine: false }, {}, 2],
    ['the lock itself', { localLine: false }, { localLine: true }, 1],
    ['the lock itself', { localLine: true }, { localLine: false }, 2],
  ])('uses the queue that is set by %s: module %o, lock %o', async (_who, module, own, contenders) => {
    expect(await contendersOf(module, (locks) => locks.mutex('k', own))).toBe(contenders);
    expect(await contendersOf(module, (locks) => locks.readWriteLock('k', own).write)).toBe(contenders);
    expect(await contendersOf(module, (locks) => locks.multi(['k'], own))).toBe(contenders);
  });

  it('without a wait queue has no local queue either', async () => {
    const { locks, backend } = startLocks({ localLine: true });
    const lock = locks.mutex('k', { line: 'none' });
    const lease = await lock.tryAcquire();
    expect(await lock.tryAcquire()).toBeNull();
    expect(backend.requests).toHaveLength(2);
    await lease?.release();
  });

  it.each([
    [{}, {}, false],
    [{ keepMs: 9 }, {}, true],
    [{ keepMs: 9 }, { keepMs: 0 }, false],
    [{}, { keepMs: 9 }, true],
  ])('marks its requests as keepable: module %o, lock %o', async (module, own, keeps) => {
    const { locks, backend } = startLocks({ localLine: true, ...module });
    await (await locks.mutex('k', own).acquire()).release();
    await (await locks.readWriteLock('k', own).read.acquire()).release();
    expect(backend.requests.map((request) => request.keeps ?? false)).toEqual([keeps, keeps]);
  });

  it('does not mark requests without a wait queue as keepable: nothing keeps those', async () => {
    const { locks, backend } = startLocks({ localLine: true, keepMs: 9 });
    await (await locks.mutex('k', { line: 'none' }).acquire()).release();
    expect(backend.requests.map((request) => request.keeps ?? false)).toEqual([false]);
  });

  it('of one key and mode is shared by all objects with that key', async () => {
    const { locks, backend } = startLocks({ localLine: true });
    const [mutex, writer, reader] = [locks.mutex('k'), locks.readWriteLock('k').write, locks.readWriteLock('k').read];
    const held = await mutex.acquire();
    const waits = [locks.mutex('k').acquire(), writer.acquire(), reader.acquire(), reader.acquire()];
    await settled();
    expect(backend.contenders('k').map(({ mode }) => mode)).toEqual(['exclusive', 'write', 'read']);
    await held.release();
    // On a slow machine the other caller of the mutex may have been sent to the end of the queue.
    await Promise.all(waits.map(async (wait) => (await wait).release()));
  });
});
