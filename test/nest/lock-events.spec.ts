import { Injectable } from '@nestjs/common';
import { describe, expect, it } from 'vitest';
import { channels, DistributedLock, LockService } from '../../lib/index.js';
import { startApp } from './app.js';

@Injectable()
class Orders {
  @DistributedLock('orders')
  async place() {}
}

/** Counts the placed orders that an application hears of by itself. */
async function startCounting(configure: (locks: LockService) => void = () => {}) {
  const { app } = await startApp({ providers: [Orders] });
  const locks = app.get(LockService);
  const heard: string[] = [];
  locks.events.on('acquired', ({ request }) => heard.push(request.name));
  locks.events.on('session', ({ state }) => heard.push(state));
  configure(locks);
  return { app, orders: app.get(Orders), heard, locks };
}

const areInUse = () => Object.values(channels).some(({ hasSubscribers }) => hasSubscribers);

describe('the events of two applications in one process', () => {
  it('are heard by the application that they are from', async () => {
    const [one, other] = [await startCounting(), await startCounting()];
    await one.orders.place();
    await other.orders.place();
    await other.orders.place();
    expect(one.heard).toEqual(['Orders.place']);
    expect(other.heard).toEqual(['Orders.place', 'Orders.place']);
    expect(one.locks.origin).not.toBe(other.locks.origin);
    expect(Object.isFrozen(one.locks.origin)).toBe(true);
  });

  it('reach no listener after the shutdown, which leaves no subscriber', async () => {
    const [one, other] = [await startCounting(), await startCounting()];
    await one.app.close();
    expect(areInUse()).toBe(true);
    await other.orders.place();
    expect(one.heard).toEqual(['closed']);
    await other.app.close();
    expect(areInUse()).toBe(false);
  });

  it('are left behind by an application that does not shut its locks down', async () => {
    const { app, locks } = await startCounting();
    // The check of the test above sees a subscriber that is left.
    locks.onApplicationShutdown = async () => {};
    await app.close();
    expect(areInUse()).toBe(true);
    delete (locks as { onApplicationShutdown?: unknown }).onApplicationShutdown;
    await locks.onApplicationShutdown();
    expect(areInUse()).toBe(false);
  });
});

describe('the events behind a Proxy', () => {
  it('have the origin of the service itself', async () => {
    const { orders, heard, locks } = await startCounting();
    const proxy = new Proxy(locks, {});
    proxy.events.on('released', ({ origin }) => heard.push(String(origin === proxy.origin)));
    await orders.place();
    expect(heard).toEqual(['Orders.place', 'true']);
  });
});
