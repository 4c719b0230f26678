import { Logger } from '@nestjs/common';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { CoordinationService } from '../../../lib/coordination/coordination.service.js';
import { LeaderElectionService } from '../../../lib/elections/leader-election.service.js';
import { key } from '../../../lib/index.js';
import { Keys } from '../../../lib/service/service-names.js';
import type { LockService } from '../../../lib/service/lock.service.js';
import { startLocks } from './locks.js';

/** Records what is logged as a warning from now on. */
function watchWarnings() {
  const warn = vi.spyOn(Logger.prototype, 'warn').mockImplementation(() => {});
  onTestFinished(() => warn.mockRestore());
  return { keys: () => warn.mock.calls.map(([message]) => /the key "(.+?)"/.exec(String(message))?.[1]), warn };
}

/** Every call that takes a key. */
const USES: readonly (readonly [string, (locks: LockService, key: string) => unknown])[] = [
  ['mutex', (locks, key) => locks.using(key, () => {})],
  ['readWriteLock', (locks, key) => locks.readWriteLock(key).read.using(() => {})],
  ['semaphore', (locks, key) => locks.semaphore(key, { permits: 2 }).using(() => {})],
  ['sharedCount', (locks, key) => locks.semaphore('pdf', { permits: 2, sharedCount: key })],
  ['multi', (locks, key) => locks.multi(['a', key]).using(() => {})],
  ['atomic multi', (locks, key) => locks.multi(['a', key], { atomic: true }).using(() => {})],
  ['segmented', (locks, key) => locks.segmented(key, { segments: 3 }).withAll(() => {})],
  ['stock', (locks, key) => locks.stock(key, { segments: 3 }).restock(5)],
  ['election', (locks, key) => new LeaderElectionService(locks).campaign(key).then((term) => term.resign())],
  ['observed election', (locks, key) => void new LeaderElectionService(locks).observe(key)],
  ['queue', (locks, key) => new CoordinationService(locks).queue(key)],
  ['barrier', (locks, key) => new CoordinationService(locks).barrier(key)],
  ['double barrier', (locks, key) => new CoordinationService(locks).doubleBarrier(key, { count: 2 })],
  ['counter', (locks, key) => new CoordinationService(locks).counter(key)],
  ['value', (locks, key) => new CoordinationService(locks).value(key, { initial: 0 })],
];

describe.each(USES)('a key of %s', (_name, use) => {
  it('is warned about once when a value is missing in it', async () => {
    const warnings = watchWarnings();
    const { locks } = startLocks();
    for (const missing of ['order/undefined', 'order/undefined', 'null/1', 'NaN', '[object Object]/1', 'null/1']) {
      await use(locks, missing);
    }
    expect(warnings.keys()).toEqual(['order/undefined', 'null/1', 'NaN', '[object Object]/1']);
    expect(warnings.warn.mock.calls[0]?.[0]).toContain('Make it with the tag key`…`');
  });

  it('is not warned about otherwise', async () => {
    const warnings = watchWarnings();
    const { locks } = startLocks();
    await use(locks, 'orders/undefined-behaviour');
    await use(locks, key`order/${'nullable'}`);
    expect(warnings.keys()).toEqual([]);
  });
});

describe('the key of a job', () => {
  it.each(['#jobs', '#jobs/shop/a', '/base/#jobs', '/base/#jobs/shop/a'])(
    'is refused, however it is written: %s',
    (name) => {
      const identify = (text: string) => (text.startsWith('/') ? text : `/base/${text}`);
      expect(() => new Keys({ identify }, () => {}).identify(name)).toThrow('must not begin with "#jobs"');
    },
  );
});

describe('warnings about keys', () => {
  it('stop after a limit', () => {
    const told: string[] = [];
    const keys = new Keys({ identify: (name) => name }, (message) => told.push(message));
    for (let round = 0; round < 2; round++) {
      for (let place = 0; place < 1_500; place++)
        expect(keys.identify(`undefined/${place}`)).toBe(`undefined/${place}`);
    }
    expect(told).toHaveLength(1_000);
    expect(new Set(told).size).toBe(1_000);
  });

  it('come from the LockService', () => {
    const { warn } = watchWarnings();
    startLocks().locks.mutex('order/undefined');
    expect(warn.mock.contexts[0]).toMatchObject({ context: 'LockService' });
  });
});
