import { hostname } from 'node:os';
import { Logger } from '@nestjs/common';
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { LockConfigurationError, LockLostError, LockUnavailableError } from '../../../lib/contract/errors.js';
import type { RecordChange, RecordWrite } from '../../../lib/contract/record-store.js';
import { LockService } from '../../../lib/service/lock.service.js';
import { recordedLosses } from '../../../lib/service/recorded-losses.js';
import { closeService } from '../../support/plain-service.js';
import { recordLoss } from '../../support/recorded-loss.js';
import { StatefulBackend } from './stateful.backend.js';

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
});

afterEach(() => {
  vi.useRealTimers();
});

const FIRST_PAUSE_MS = 2_000;
const LONGEST_PAUSE_MS = 60_000;

function start() {
  for (const level of ['warn', 'error'] as const) {
    const line = vi.spyOn(Logger.prototype, level).mockImplementation(() => {});
    onTestFinished(() => line.mockRestore());
  }
  const backend = new StatefulBackend();
  const options = { connectionName: 'default', service: 'shop', waitMs: 60_000, drainTimeoutMs: 1 };
  const locks = new LockService(backend, { ...options, connectOnStart: 'required', localLine: false });
  onTestFinished(() => backend.close());
  const { records } = backend;
  const write = records.write.bind(records);
  const written = vi.spyOn(records, 'write');
  const lose = async (...keys: string[]) => {
    for (const key of keys) await locks.acquire(key, { label: `Orders.${key}` });
    for (const key of keys) backend.leaseOn(key)?.lose(new LockLostError(key, 'the session is over (expired)'));
    await Promise.resolve();
  };
  const keys = async () => (await recordedLosses(backend)).map(({ named: [first] }) => first?.key);
  return { backend, locks, lose, keys, write, written, recorded: () => recordedLosses(backend) };
}

const later = (ms = FIRST_PAUSE_MS) => vi.advanceTimersByTimeAsync(ms);
const warned = () => vi.mocked(Logger.prototype.warn).mock.calls.flat();

describe('a loss', () => {
  it('is recorded with its process, its reason, its number of leases and five of them', async () => {
    const { lose, recorded } = start();
    const before = Date.now();
    const keys = Array.from({ length: 12 }, (_, at) => `k${at}`);
    await lose(...keys);
    expect(await recorded()).toEqual([]);
    await later();
    const [loss, ...others] = await recorded();
    expect(others).toEqual([]);
    expect(loss).toMatchObject({
      service: 'shop',
      host: hostname(),
      pid: process.pid,
      reason: 'the session is over (expired)',
      leases: 12,
      named: keys.slice(0, 5).map((key) => ({ key, label: `Orders.${key}` })),
    });
    expect(Date.parse(loss!.at)).toBeGreaterThanOrEqual(before);
  });

  it('is recorded when the servers can be reached again', async () => {
    const { backend, lose, keys, written } = start();
    backend.turn('lost');
    await lose('a');
    await later(10 * LONGEST_PAUSE_MS);
    expect(written).not.toHaveBeenCalled();
    backend.turn('connected');
    await later(LONGEST_PAUSE_MS);
    expect(await keys()).toEqual(['a']);
  });

  it('is recorded while locks on another server than that of the records cannot be reached', async () => {
    const { backend, lose, keys } = start();
    backend.turn('lost');
    Object.defineProperty(backend.records, 'isReachable', { value: true });
    await lose('a');
    await later();
    expect(await keys()).toEqual(['a']);
  });

  it('is recorded although it came while others were being written, and not before a second has passed', async () => {
    const { lose, keys, write, written } = start();
    const at: number[] = [];
    written.mockImplementation(async (changes) => {
      at.push(Date.now());
      if (at.length < 20) await lose(`k${at.length}`);
      return write(changes);
    });
    vi.setSystemTime(0);
    await lose('k0');
    for (let second = 0; second < 60; second++) await later(1_000);
    expect(await keys()).toEqual(Array.from({ length: 20 }, (_, number) => `k${19 - number}`));
    expect(at).toHaveLength(20);
  });

  it('is recorded beside one that another process has recorded at the same moment', async () => {
    const { backend, lose, keys } = start();
    const read = vi.spyOn(backend.records, 'read');
    read.mockImplementationOnce(async () => {
      await recordLoss(backend);
      return undefined;
    });
    await lose('own');
    await later();
    expect(await keys()).toEqual(['order/1']);
    await later(2 * FIRST_PAUSE_MS);
    expect(await keys()).toEqual(['own', 'order/1']);
  });

  it('is recorded once, although the reply of its write was lost', async () => {
    const { lose, keys, write, written } = start();
    written.mockImplementationOnce(async (changes: readonly RecordChange[]): Promise<RecordWrite> => {
      await write(changes);
      throw new LockUnavailableError('the reply was lost');
    });
    await lose('a');
    await later();
    expect(await keys()).toEqual(['a']);
    await later(2 * FIRST_PAUSE_MS);
    expect(written).toHaveBeenCalledTimes(2);
    expect(await keys()).toEqual(['a']);
  });

  it('is left out after 50 later ones', async () => {
    const { lose, keys } = start();
    await lose('first');
    await later();
    for (let at = 0; at < 60; at++) await lose(`k${at}`);
    await later();
    expect(await keys()).toEqual(Array.from({ length: 50 }, (_, at) => `k${59 - at}`));
  });

  it('is left out when the later ones leave no room in the record', async () => {
    const { backend, lose, keys } = start();
    for (let at = 0; at < 60; at++) {
      await lose(...['a', 'b', 'c', 'd', 'e'].map((key) => `${key}${at}${'\u4e00'.repeat(200)}`));
    }
    await later();
    const { length } = await keys();
    expect((await keys())[0]).toMatch(/^a59/);
    expect(length).toBeGreaterThan(5);
    expect(length).toBeLessThan(50);
    expect(Buffer.byteLength((await backend.records.read('losses'))!.value)).toBeLessThanOrEqual(64 * 1_024);
  });

  it('warns once when the servers refuse its record, and is recorded when they do not any more', async () => {
    const { backend, lose, keys } = start();
    const read = vi.spyOn(backend.records, 'read').mockRejectedValue(new LockConfigurationError('no rights'));
    await lose('a');
    await later(10 * LONGEST_PAUSE_MS);
    expect(warned()).toEqual([expect.stringMatching(/^losses cannot be recorded .*no rights/)]);
    read.mockRestore();
    await later(LONGEST_PAUSE_MS);
    expect(await keys()).toEqual(['a']);
  });

  it('is not recorded when somebody wanted it: a revocation, or a shutdown', async () => {
    const { locks, written } = start();
    await locks.acquire('a');
    const revoked = locks.revoke('a', { graceMs: 10 });
    await later();
    await revoked;
    await locks.acquire('b');
    const closed = closeService(locks);
    await later(LONGEST_PAUSE_MS);
    await closed;
    expect(warned().join('\n')).toContain('lost 1 lease: "a"');
    expect(written).not.toHaveBeenCalled();
  });

  it('is not recorded after the shutdown, and leaves no timer', async () => {
    const { locks, lose, written } = start();
    await lose('a');
    expect(vi.getTimerCount()).toBeGreaterThan(0);
    const closed = closeService(locks);
    await later(LONGEST_PAUSE_MS);
    await closed;
    expect([vi.getTimerCount(), written.mock.calls]).toEqual([0, []]);
  });
});

describe('the record of losses', () => {
  it.each<[string, string]>([
    ['no JSON', 'not json'],
    ['no array', '{"losses":[]}'],
    ['another shape', '[1,null,{"id":"x","at":"yesterday","host":"h","pid":1,"reason":"r","leases":1,"named":[]}]'],
    ['more than fits', JSON.stringify(Array.from({ length: 9_000 }, () => 'no loss'))],
  ])('may have a value of another client: %s', async (_, value) => {
    const { backend, lose, keys, recorded } = start();
    vi.spyOn(backend.records, 'read').mockResolvedValueOnce({
      name: 'losses',
      value,
      version: 0,
      writtenAt: new Date(),
    });
    expect(await recorded()).toEqual([]);
    await backend.records.write([{ name: 'losses', value: value.slice(0, 60_000) }]);
    await lose('a');
    await later();
    expect(await keys()).toEqual(['a']);
  });

  it('has bounded texts only, whatever another client has written', async () => {
    const { backend, recorded } = start();
    const long = 'x'.repeat(3_000);
    const named = [
      { key: long, label: { toString: 1 } },
      { label: 'no key' },
      ...Array.from({ length: 9 }, () => ({ key: 'k' })),
    ];
    await recordLoss(backend, { at: 'Sat Mar 01 2026', service: { toString: 1 }, host: long, reason: long, named });
    const [loss] = await recorded();
    expect(loss).toMatchObject({ service: undefined, at: new Date('Sat Mar 01 2026').toISOString() });
    expect([loss?.host.length, loss?.reason.length, loss?.named[0]?.key.length]).toEqual([120, 120, 1_024]);
    expect(loss?.named[0]?.label).toBeUndefined();
    expect(loss?.named.length).toBeLessThanOrEqual(5);
  });
});
