import type { DiscoveryService } from '@nestjs/core';

/** What an application is made of and keeps: it leaves out what is made for each request. */
export function fixedInstances(discovery: DiscoveryService): readonly object[] {
  const wrappers = [...discovery.getControllers(), ...discovery.getProviders()];
  const fixed = wrappers.filter((wrapper) => wrapper.isDependencyTreeStatic() && !wrapper.isTransient);
  const instances = fixed.map((wrapper): unknown => wrapper.instance);
  return [...new Set(instances)].filter((one): one is object => typeof one === 'object' && one !== null);
}
