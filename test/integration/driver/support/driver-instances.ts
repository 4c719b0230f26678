import { onTestFinished, vi } from 'vitest';
import { plainDriver } from './plain-client.js';
import type { PlainClient } from './plain-client.js';

/** The insides of every driver instance that is made from now on, ours included. */
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
