import { Inject, Injectable } from '@nestjs/common';
import type { OnApplicationBootstrap, OnModuleInit } from '@nestjs/common';
import { DiscoveryService } from '@nestjs/core';
import { lockedMethodsOf } from './decorators/locked-method.js';
import { LeaderElectionService } from './elections/leader-election.service.js';
import { orCloseConnections, fixedInstances } from './discovered.js';

/**
 * Finds the methods that take part in elections. Once everything has started, the application campaigns for them.
 * Instances made for each request never get hooks; their methods with `@LeaderOnly` join at their first call.
 */
@Injectable()
export class ElectionExplorer implements OnModuleInit, OnApplicationBootstrap {
  // No #private members here: Nest may be configured to wrap its providers in a Proxy, which has none.
  constructor(@Inject(DiscoveryService) private readonly discovery: DiscoveryService) {}

  /** @throws LockConfigurationError for a name that is not valid, and a backend that holds no elections */
  onModuleInit(): Promise<void> {
    return orCloseConnections(this.discovery, () => fixedInstances(this.discovery).forEach(join));
  }

  onApplicationBootstrap(): void {
    const instances = this.discovery.getProviders().map((wrapper): unknown => wrapper.instance);
    instances.filter((instance) => instance instanceof LeaderElectionService).forEach((service) => service.start());
  }
}

function join(instance: object): void {
  const methods = lockedMethodsOf(instance).filter(({ election }) => election);
  for (const { name, prototype, slot, election } of methods) {
    // An overriding method with a role of its own replaces this one.
    if (methods.find((nearest) => nearest.name === name)?.prototype !== prototype) continue;
    const [locks] = slot.servicesOf(instance);
    if (locks) election?.join(locks, instance);
  }
}
