import { Inject, Injectable, Logger } from '@nestjs/common';
import type { OnApplicationShutdown, OnModuleInit } from '@nestjs/common';
import { DiscoveryService } from '@nestjs/core';
import { LockConfigurationError } from './contract/errors.js';
import { lockedMethodsOf, lockedMethodsOn } from './decorators/locked-method.js';
import type { LockedMethod } from './decorators/locked-method.js';
import { wrapperWarning } from './decorators/wrappers.js';
import { orCloseConnections } from './discovered.js';
import { LockService } from './service/lock.service.js';
import { registrationOf } from './service/connection-token.js';
import { connectionOf } from './service/lock-service.token.js';

interface Binding {
  readonly instance: object;
  readonly method: LockedMethod;
  readonly service: LockService;
}

const logger = new Logger('DistributedLock');

/**
 * Binds the `LockService` to instances that factories and values brought into the application: Nest injects properties
 * only into objects that it constructs. Warns about locks below decorators that wrap the method. Runs once per
 * application, before any other module's `onModuleInit`.
 */
@Injectable()
export class LockExplorer implements OnModuleInit, OnApplicationShutdown {
  // No #private members here: Nest may be configured to wrap its providers in a Proxy, which has none.
  private bindings: readonly Binding[] = [];

  constructor(@Inject(DiscoveryService) private readonly discovery: DiscoveryService) {}

  /** @throws LockConfigurationError for a connection that is not registered, or that was registered twice */
  onModuleInit(): Promise<void> {
    return orCloseConnections(this.discovery, () => {
      const services = this.services();
      this.bindings = this.broughtIn().flatMap((instance) => bindingsOf(instance, services));
      for (const { instance, method, service } of this.bindings) method.slot.bind(instance, service);
      this.warnOfWrappers();
    });
  }

  onApplicationShutdown(): void {
    for (const { instance, method, service } of this.bindings) method.slot.unbind(instance, service);
  }

  private warnOfWrappers(): void {
    const methods = new Set(this.prototypes().flatMap(lockedMethodsOn));
    for (const warning of [...methods].map(wrapperWarning)) if (warning !== undefined) logger.warn(warning);
  }

  /** The prototypes of the classes whose instances the application has, or will make. */
  private prototypes(): readonly object[] {
    const wrappers = [...this.discovery.getControllers(), ...this.discovery.getProviders()];
    const ofClasses = wrappers.filter((wrapper) => !wrapper.isNotMetatype).map(({ metatype }) => metatype?.prototype);
    const ofInstances = this.broughtIn().map((instance): unknown => Object.getPrototypeOf(instance));
    return [...ofClasses, ...ofInstances].filter(isObject);
  }

  private services(): ReadonlyMap<string, LockService> {
    const services = new Map<string, LockService>();
    for (const { token, instance } of this.discovery.getProviders()) {
      const name = connectionOf(token);
      if (name === undefined || !instance) continue;
      if (services.get(name) instanceof LockService && instance instanceof LockService) throw registeredTwice(name);
      services.set(name, instance);
    }
    return services;
  }

  private broughtIn(): readonly object[] {
    const wrappers = this.discovery.getProviders().filter((wrapper) => wrapper.isNotMetatype);
    const fixed = wrappers.filter((wrapper) => wrapper.isDependencyTreeStatic() && !wrapper.isTransient);
    return fixed.map((wrapper): unknown => wrapper.instance).filter(isObject);
  }
}

function bindingsOf(instance: object, services: ReadonlyMap<string, LockService>): readonly Binding[] {
  return lockedMethodsOf(instance).map((method) => {
    const service = services.get(method.slot.connection);
    if (!service) throw unknownConnection(method, [...services.keys()]);
    return { instance, method, service };
  });
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}

function unknownConnection({ title, slot }: LockedMethod, names: readonly string[]): LockConfigurationError {
  const registered = names.map((name) => `"${name}"`).join(', ');
  return new LockConfigurationError(
    `${title}: no connection is named "${slot.connection}" (registered: ${registered}): import ` +
      `${registrationOf(slot.connection)} in the root module`,
  );
}

function registeredTwice(name: string): LockConfigurationError {
  return new LockConfigurationError(
    `LockModule is registered twice as "${name}": import one registration everywhere, or give each a name of its own`,
  );
}
