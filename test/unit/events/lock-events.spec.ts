import { Logger } from '@nestjs/common';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { channels } from '../../../lib/contract/channels.js';
import { LockLostError } from '../../../lib/contract/errors.js';
import type { LockEventTypes } from '../../../lib/service/lock-events.js';
import { settled } from '../local/callers.js';
import { startServices } from './services.js';

/** The channels that have a subscriber. */
const inUse = () => Object.entries(channels).flatMap(([name, { hasSubscribers }]) => (hasSubscribers ? [name] : []));

/** Services without a referee, which would subscribe to the channels as well. */
function start(options: Parameters<typeof startServices>[0] = {}) {
  const services = startServices(options);
  services.referee.stop();
  return services;
}

const TYPES = ['waiting', 'acquired', 'missed', 'released', 'suspended', 'resumed', 'revoking', 'lost'] as const;

describe('LockEvents', () => {
  it('calls listeners with the events of the connection, in order', async () => {
    const { locks, backend } = start();
    const heard: string[] = [];
    for (const type of TYPES) locks.events.on(type, ({ request }) => heard.push(`${type} ${request.key}`));
    const lease = await locks.acquire('k');
    expect(await locks.tryAcquire('k')).toBeNull();
    backend.leaseOn('k')?.suspend();
    backend.leaseOn('k')?.resume();
    backend.leaseOn('k')?.revoke();
    backend.leaseOn('k')?.lose(new LockLostError('k', 'test'));
    await settled();
    expect(lease.isHeld()).toBe(false);
    expect(heard).toEqual(
      ['waiting', 'acquired', 'waiting', 'missed', 'suspended', 'resumed', 'revoking', 'lost', 'released'].map(
        (type) => `${type} k`,
      ),
    );
  });

  it('passes what the channel says', async () => {
    const { locks, backend } = start({ connectionName: 'reports' });
    const heard: LockEventTypes['lost'][] = [];
    locks.events.on('lost', (event) => heard.push(event));
    await locks.acquire('k', { label: 'Orders.place' });
    const error = new LockLostError('k', 'test');
    backend.leaseOn('k')?.lose(error);
    expect(heard).toMatchObject([{ connection: 'reports', request: { key: 'k', name: 'Orders.place' }, error }]);
    expect(heard[0]?.origin).toBe(locks.origin);
  });

  it('subscribes to nothing before there is a listener, and to nothing after the last one', async () => {
    const { locks } = start();
    expect(locks.events).toBe(locks.events);
    expect(inUse()).toEqual([]);
    const [one, other] = [locks.events.on('lost', () => {}), locks.events.on('lost', () => {})];
    expect(inUse()).toEqual(['requestStart', 'leaseLost']);
    one();
    one();
    expect(inUse()).toEqual(['requestStart', 'leaseLost']);
    other();
    expect(inUse()).toEqual([]);
    locks.events.on('session', () => {});
    expect(inUse()).toEqual(['session']);
  });

  it('calls a listener no more once it is disposed', async () => {
    const { locks } = start();
    const heard = vi.fn<() => void>();
    const dispose = locks.events.on('acquired', heard);
    await (await locks.acquire('k')).release();
    dispose();
    await (await locks.acquire('k')).release();
    expect(heard).toHaveBeenCalledTimes(1);
  });

  it('is told of other services by nobody', async () => {
    const [one, other] = [start(), start()];
    const heard = vi.fn<() => void>();
    one.locks.events.on('acquired', heard);
    one.locks.events.on('released', heard);
    await other.locks.using('k', () => {});
    expect(heard).not.toHaveBeenCalled();
    await one.locks.using('k', () => {});
    expect(heard).toHaveBeenCalledTimes(2);
  });

  it('hears the end of the session as the last event, and then unsubscribes from everything', async () => {
    const { locks, close } = start({ drainTimeoutMs: 0 });
    const heard: string[] = [];
    locks.events.on('session', ({ state, before }) => heard.push(`${before} ${state}`));
    locks.events.on('released', ({ state }) => heard.push(state));
    await locks.onModuleInit();
    await locks.acquire('k');
    await close();
    expect(heard).toEqual(['undefined connected', 'lost', 'connected closed']);
    expect(inUse()).toEqual([]);
    locks.events.on('session', () => {});
    expect(inUse()).toEqual([]);
  });

  it('keeps the errors of listeners from the lock, and logs the first of each', async () => {
    const error = vi.spyOn(Logger.prototype, 'error').mockImplementation(() => {});
    onTestFinished(() => error.mockRestore());
    const { locks } = start();
    locks.events.on('acquired', () => {
      throw new Error('thrown by the listener');
    });
    locks.events.on('released', () => Promise.reject(new Error('rejected by the listener')));
    const heard = vi.fn<() => void>();
    locks.events.on('acquired', heard);
    for (let turn = 0; turn < 3; turn++) expect(await locks.using('k', () => 'done')).toBe('done');
    await settled();
    expect(heard).toHaveBeenCalledTimes(3);
    expect(error.mock.calls).toEqual([
      [expect.stringContaining('"acquired"'), expect.stringContaining('thrown by the listener')],
      [expect.stringContaining('"released"'), expect.stringContaining('rejected by the listener')],
    ]);
  });
});
