import { hostname } from 'node:os';
import { Logger } from '@nestjs/common';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { LockConfigurationError, LockLostError, LockUnavailableError } from '../../../lib/contract/errors.js';
import type { RecordWrite } from '../../../lib/contract/record-store.js';
import { LockService } from '../../../lib/service/lock.service.js';
import { recordedLosses } from '../../../lib/service/recorded-losses.js';
import { closeService } from '../../support/plain-service.js';
import { StatefulBackend } from './stateful.backend.js';

function start() {
  for (const level of ['warn', 'error'] as const) {
    const line = vi.spyOn(Logger.prototype, level).mockImplementation(() => {});
    onTestFinished(() => line.mockRestore());
  }
  const backend = new StatefulBackend();
  const options = { connectionName: 'default', service: 'shop', waitMs: 60_000, drainTimeoutMs: 1 };
  const locks = new LockService(backend, { ...options, connectOnStart: 'required', localLine: false });
  onTestFinished(() => backend.close());
  const lose = async (keys: readonly string[], reason = 'the session is over (expired)') => {
    for (const key of keys) await locks.acquire(key, { label: `Orders.${key.slice(0, 4)}` });
    for (const key of keys) backend.leaseOn(key)?.lose(new LockLostError(key, reason));
  };
  return { backend, locks, lose, recorded: () => recordedLosses(backend) };
}

const lossOf = (key: string) => expect.objectContaining({ named: [expect.objectContaining({ key })] });

describe('a loss', () => {
  it('is recorded with its process, its reason, its number of leases and ten of them', async () => {
    const { lose, recorded } = start();
    const before = Date.now();
    const keys = Array.from({ length: 12 }, (_, at) => `k${at}`);
    await lose(keys);
    await expect.poll(recorded).toHaveLength(1);
    const [loss] = await recorded();
    expect(loss).toMatchObject({
      service: 'shop',
      host: hostname(),
      pid: process.pid,
      reason: 'the session is over (expired)',
      leases: 12,
      named: keys.slice(0, 10).map((key) => ({ key, label: `Orders.${key}` })),
    });
    expect(Date.parse(loss!.at)).toBeGreaterThanOrEqual(before - 1);
  });

  it('is recorded when the servers can be reached again', async () => {
    const { backend, lose, recorded } = start();
    const write = vi.spyOn(backend.records, 'write');
    await lose(['a']);
    backend.turn('lost');
    await lose(['b']);
    await expect.poll(recorded).toEqual([lossOf('a')]);
    expect(write).toHaveBeenCalledTimes(1);
    backend.turn('connected');
    await expect.poll(recorded).toEqual([lossOf('b'), lossOf('a')]);
  });

  it('is recorded beside one that another process has recorded at the same moment', async () => {
    const { backend, lose, recorded } = start();
    const read = vi.spyOn(backend.records, 'read');
    read.mockImplementationOnce(async () => {
      await lose(['other']);
      return undefined;
    });
    await lose(['own']);
    await expect.poll(recorded).toHaveLength(2);
    expect(read.mock.calls.length).toBeGreaterThan(1);
  });

  it('is recorded once, although the reply of its write was lost', async () => {
    const { backend, lose, recorded } = start();
    const { write } = backend.records;
    const lossy = vi.spyOn(backend.records, 'write');
    lossy.mockImplementationOnce(async (changes): Promise<RecordWrite> => {
      await write.call(backend.records, changes);
      throw new LockUnavailableError('the reply was lost');
    });
    await lose(['a']);
    await expect.poll(() => lossy.mock.calls.length).toBe(1);
    await expect.poll(recorded).toHaveLength(1);
    backend.turn('connected');
    await expect.poll(() => lossy.mock.calls.length).toBe(2);
    expect(await recorded()).toEqual([lossOf('a')]);
  });

  it('is left out after 50 later ones', async () => {
    const { lose, recorded } = start();
    for (let at = 0; at < 60; at++) await lose([`k${at}`]);
    await expect.poll(async () => (await recorded())[0]).toEqual(lossOf('k59'));
    expect(await recorded()).toHaveLength(50);
  });

  it('is left out when the later ones leave no room in the record', async () => {
    const { backend, lose, recorded } = start();
    for (let at = 0; at < 60; at++) {
      await lose(
        ['a', 'b', 'c'].map((key) => `${key}${at}${'\u4e00'.repeat(200)}`),
        '\u4e8c'.repeat(2_000),
      );
    }
    await expect.poll(async () => (await recorded())[0]?.named[0]?.key).toMatch(/^a59/);
    const { length } = await recorded();
    expect(length).toBeGreaterThan(20);
    expect(length).toBeLessThan(50);
    expect(Buffer.byteLength((await backend.records.read('losses'))!.value)).toBeLessThanOrEqual(64 * 1_024);
  });

  it('warns once when it cannot be recorded, and nothing more is tried', async () => {
    const { backend, lose, recorded } = start();
    const refused = new LockConfigurationError('no rights');
    const read = vi.spyOn(backend.records, 'read').mockRejectedValueOnce(refused);
    await lose(['a']);
    const warned = () => vi.mocked(Logger.prototype.warn).mock.calls.flat();
    await expect.poll(warned).toEqual([expect.stringMatching(/^losses cannot be recorded .*no rights/)]);
    await lose(['b']);
    backend.turn('connected');
    expect(read).toHaveBeenCalledTimes(1);
    expect(await recorded()).toEqual([]);
  });

  it('is not recorded when the shutdown ends a lease', async () => {
    const { backend, locks, recorded } = start();
    const write = vi.spyOn(backend.records, 'write');
    await locks.acquire('a');
    await closeService(locks);
    expect(write).not.toHaveBeenCalled();
    expect(await recorded()).toEqual([]);
  });

  it.each<[string, string]>([
    ['no JSON', 'not json'],
    ['no array', '{"losses":[]}'],
    ['another shape', '[1,null,{"id":"x","at":"yesterday","host":"h","pid":1,"reason":"r","leases":1,"named":[]}]'],
  ])('is recorded over a value of another client: %s', async (_, value) => {
    const { backend, lose, recorded } = start();
    await backend.records.write([{ name: 'losses', value }]);
    expect(await recorded()).toEqual([]);
    await lose(['a']);
    await expect.poll(recorded).toEqual([lossOf('a')]);
  });
});
