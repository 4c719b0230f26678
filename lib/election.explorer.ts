import { Inject, Injectable } from '@nestjs/common';
import type { OnApplicationBootstrap, OnModuleInit } from '@nestjs/common';
import { DiscoveryService } from '@nestjs/core';
import { lockedMethodsOf } from './decorators/locked-method.js';
import { LeaderElectionService } from './elections/leader-election.service.js';
import { orCloseConnections } from './failed-start.js';
import { fixedInstances } from './fixed-instances.js';

/**
 * Finds the methods that take part in elections, and has the application campaign for them once all has started. What is
 * made for each request is never hooked; its methods with `@LeaderOnly` join at their first call.
 */
@Injectable()
export class ElectionExplorer implements OnModuleInit, OnApplicationBootstrap {
  // No #private members here: Nest may be told to put its providers behind a Proxy, which has none.
  constructor(@Inject(DiscoveryService) private readonly discovery: DiscoveryService) {}

  /** @throws LockConfigurationError for a name that is none, and a backend that holds no elections */
  onModuleInit(): Promise<void> {
    return orCloseConnections(this.discovery, () => fixedInstances(this.discovery).forEach(join));
  }

  onApplicationBootstrap(): void {
    const instances = this.discovery.getProviders().map((wrapper): unknown => wrapper.instance);
    instances.filter((instance) => instance instanceof LeaderElectionService).forEach((service) => service.start());
  }
}

function join(instance: object): void {
  for (const { slot, election } of lockedMethodsOf(instance)) {
    const locks = slot.serviceOf(instance);
    if (locks) election?.join(locks, instance);
  }
}
