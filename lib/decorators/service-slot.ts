import { Inject } from '@nestjs/common';
import type { LockService } from '../service/lock.service.js';
import { registrationOf } from '../service/connection-token.js';
import { getLockServiceToken } from '../service/lock-service.token.js';

/**
 * Where the instances of one class keep the `LockService` of one connection. Nest injects it like a property; whatever
 * Nest does not construct is bound by the explorer.
 */
export class ServiceSlot {
  /** What Nest injects into. Its description ends up in Nest's error when there is nothing to inject. */
  readonly key: symbol;
  readonly #hidden = Symbol('LockService');
  // Frozen instances cannot carry a property. Only for them: a map does not see through a Proxy around an instance.
  readonly #ofFrozen = new WeakMap<object, readonly LockService[]>();

  constructor(
    prototype: object,
    readonly connection: string,
    usedBy: string,
  ) {
    const remedy = `import ${registrationOf(connection)} in the root module`;
    this.key = Symbol(`LockService of connection "${connection}", for ${usedBy}: ${remedy}`);
    const bind = (instance: object, service: LockService) => this.bind(instance, service);
    Object.defineProperty(prototype, this.key, {
      configurable: true,
      set(this: object, service: LockService) {
        bind(this, service);
      },
    });
    Inject(getLockServiceToken(connection))(prototype, this.key);
  }

  serviceOf(instance: object): LockService | undefined {
    return this.#boundTo(instance).at(-1);
  }

  /** An object handed to two applications at once (`useValue`) belongs to the one that came last. */
  bind(instance: object, service: LockService): void {
    this.#store(instance, [...this.#without(service, instance), service]);
  }

  /** Falls back to the application before, if there is one: the last service stays, and says that it is shut down. */
  unbind(instance: object, service: LockService): void {
    const others = this.#without(service, instance);
    if (others.length > 0) this.#store(instance, others);
  }

  #without(service: LockService, instance: object): readonly LockService[] {
    return this.#boundTo(instance).filter((bound) => bound !== service);
  }

  #boundTo(instance: object): readonly LockService[] {
    return this.#ofFrozen.get(instance) ?? Reflect.get(instance, this.#hidden) ?? [];
  }

  #store(instance: object, services: readonly LockService[]): void {
    const hidden = { value: services, enumerable: false, configurable: true, writable: true };
    if (!Reflect.defineProperty(instance, this.#hidden, hidden)) this.#ofFrozen.set(instance, services);
  }
}
