import { onTestFinished } from 'vitest';
import { ZooKeeperFaultProxy } from '../../../../lib/testing/index.js';

/** A proxy that is closed when the test has finished. */
export async function openProxy(target: string): Promise<ZooKeeperFaultProxy> {
  const proxy = await ZooKeeperFaultProxy.open(target);
  onTestFinished(() => proxy.close());
  return proxy;
}

/** Opens two proxies to one server. A session moves between them as between two servers of an ensemble. */
export async function openProxies(target: string): Promise<{ proxies: ZooKeeperFaultProxy[]; connectString: string }> {
  const proxies = [await openProxy(target), await openProxy(target)];
  return { proxies, connectString: proxies.map((proxy) => proxy.connectString).join() };
}

/** Returns the proxy that has the connection, and the other one. */
export function inUse([one, other]: ZooKeeperFaultProxy[]): { used: ZooKeeperFaultProxy; spare: ZooKeeperFaultProxy } {
  if (one!.connections + other!.connections !== 1) throw new Error('not one connection');
  return one!.connections > 0 ? { used: one!, spare: other! } : { used: other!, spare: one! };
}
