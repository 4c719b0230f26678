import type { DiscoveryService } from '@nestjs/core';
import { LockService } from './service/lock.service.js';

/**
 * Does something that keeps the application from starting when it throws. Nest does not shut down what failed to start,
 * so the connections that are open by then are closed here: their sessions would outlive the application.
 */
export async function orCloseConnections(discovery: DiscoveryService, work: () => void): Promise<void> {
  try {
    work();
  } catch (error) {
    const instances = discovery.getProviders().map((wrapper): unknown => wrapper.instance);
    const services = instances.filter((instance) => instance instanceof LockService);
    await Promise.all(services.map((service) => service.onApplicationShutdown()));
    throw error;
  }
}
