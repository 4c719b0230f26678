import { onTestFinished, vi } from 'vitest';
import { plainDriver } from './plain-client.js';
import type { PlainClient } from './plain-client.js';

/** Collects the internals of every driver instance that is created from now on, including ours. */
export function driverInstances(): PlainClient['connectionManager'][] {
  const instances: PlainClient['connectionManager'][] = [];
  const { createClient } = plainDriver;
  const spy = vi.spyOn(plainDriver, 'createClient').mockImplementation((...args) => {
    const client = createClient(...args);
    instances.push(client.connectionManager);
    return client;
  });
  onTestFinished(() => spy.mockRestore());
  return instances;
}
