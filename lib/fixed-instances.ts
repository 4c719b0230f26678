import type { DiscoveryService } from '@nestjs/core';

/** Returns the instances that an application keeps. Those made for each request are left out. */
export function fixedInstances(discovery: DiscoveryService): readonly object[] {
  const wrappers = [...discovery.getControllers(), ...discovery.getProviders()];
  const fixed = wrappers.filter((wrapper) => wrapper.isDependencyTreeStatic() && !wrapper.isTransient);
  const instances = fixed.map((wrapper): unknown => wrapper.instance);
  return [...new Set(instances)].filter((one): one is object => typeof one === 'object' && one !== null);
}
