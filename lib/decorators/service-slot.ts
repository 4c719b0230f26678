import { Inject } from '@nestjs/common';
import { LockConfigurationError } from '../contract/errors.js';
import { registrationOf } from '../service/connection-token.js';
import { severalCopies } from '../service/loaded-copies.js';
import { LockService } from '../service/lock.service.js';
import { getLockServiceToken } from '../service/lock-service.token.js';

/**
 * Where the instances of one class keep the `LockService` of one connection. Nest injects it like a property; whatever
 * Nest does not construct is bound by the explorer.
 */
export class ServiceSlot {
  readonly #hidden = Symbol('LockService');
  // Frozen instances cannot carry a property. Only for them: a map does not see through a Proxy around an instance.
  readonly #ofFrozen = new WeakMap<object, readonly LockService[]>();

  constructor(
    prototype: object,
    readonly connection: string,
    private readonly usedBy: string,
  ) {
    const key = Symbol(`LockService of connection "${connection}", for ${usedBy}`);
    const bind = (instance: object, service: LockService) => this.bind(instance, service);
    Object.defineProperty(prototype, key, {
      configurable: true,
      set(this: object, service: LockService) {
        bind(this, service);
      },
    });
    Inject(getLockServiceToken(connection))(prototype, this.#injectedAt(key));
  }

  /**
   * A property key that Nest's error shows with `toString()`. The text is made then: whether there is a second copy of the
   * package is not known before all is loaded.
   */
  #injectedAt(key: symbol): symbol {
    const remedy = () => severalCopies() ?? `import ${registrationOf(this.connection)} in the root module`;
    const described = { [Symbol.toPrimitive]: () => key, toString: () => `${key.description}: ${remedy()}` };
    return described as unknown as symbol;
  }

  serviceOf(instance: object): LockService | undefined {
    return this.#boundTo(instance).at(-1);
  }

  /** An object handed to two applications at once (`useValue`) belongs to the one that came last. */
  bind(instance: object, service: LockService): void {
    this.#refuseOtherCopy(service);
    this.#store(instance, [...this.#without(service, instance), service]);
  }

  /** Falls back to the application before, if there is one: the last service stays, and says that it is shut down. */
  unbind(instance: object, service: LockService): void {
    const others = this.#without(service, instance);
    if (others.length > 0) this.#store(instance, others);
  }

  /** The name of a connection is the same in all copies, and what it stands for would be of another class. */
  #refuseOtherCopy(service: object): void {
    const copies = service instanceof LockService ? undefined : severalCopies();
    if (copies === undefined || service.constructor.name !== LockService.name) return;
    throw new LockConfigurationError(`${this.usedBy} (connection "${this.connection}"): ${copies}`);
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
