import type { DiscoveryService } from '@nestjs/core';
import { LockService } from './service/lock.service.js';

/**
 * Does work that keeps the application from starting when it throws. Nest does not shut down an application that failed
 * to start. So the connections that are open by then are closed here: their sessions would outlive the application.
 */
export async function orCloseConnections(discovery: DiscoveryService, work: () => void): Promise<void> {
  try {
    work();
  } catch (error) {
    await closeConnections(discovery);
    throw error;
  }
}

/** Closes every connection of an application that failed to start. Never rejects: that would hide why it failed. */
export async function closeConnections(discovery: DiscoveryService): Promise<void> {
  await Promise.allSettled(lockServicesOf(discovery).map((service) => service.onApplicationShutdown()));
}

/** Returns the connections of the application. */
export function lockServicesOf(discovery: DiscoveryService): readonly LockService[] {
  const instances = discovery.getProviders().map((wrapper): unknown => wrapper.instance);
  return instances.filter((instance) => instance instanceof LockService);
}

/** Returns the instances that an application keeps. Those made for each request are left out. */
export function fixedInstances(discovery: DiscoveryService): readonly object[] {
  const wrappers = [...discovery.getControllers(), ...discovery.getProviders()];
  const fixed = wrappers.filter((wrapper) => wrapper.isDependencyTreeStatic() && !wrapper.isTransient);
  const instances = fixed.map((wrapper): unknown => wrapper.instance);
  return [...new Set(instances)].filter((one): one is object => typeof one === 'object' && one !== null);
}
