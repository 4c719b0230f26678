import { onTestFinished } from 'vitest';
import { FaultProxy } from '../../../../lib/testing/index.js';

/** A proxy that is closed when the test has finished. */
export async function openProxy(target: string): Promise<FaultProxy> {
  const proxy = await FaultProxy.open(target);
  onTestFinished(() => proxy.close());
  return proxy;
}

/** Two proxies to one server: a session moves between them as between two servers of an ensemble. */
export async function openProxies(target: string): Promise<{ proxies: FaultProxy[]; connectString: string }> {
  const proxies = [await openProxy(target), await openProxy(target)];
  return { proxies, connectString: proxies.map((proxy) => proxy.connectString).join() };
}

/** The one that is connected through, and the other. */
export function inUse([one, other]: FaultProxy[]): { used: FaultProxy; spare: FaultProxy } {
  if (one!.connections + other!.connections !== 1) throw new Error('not one connection');
  return one!.connections > 0 ? { used: one!, spare: other! } : { used: other!, spare: one! };
}
