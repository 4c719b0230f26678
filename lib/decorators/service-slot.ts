import { Inject } from '@nestjs/common';
import { LockConfigurationError } from '../contract/errors.js';
import { registrationOf } from '../service/connection-token.js';
import { severalCopies } from '../service/loaded-copies.js';
import { LockService } from '../service/lock.service.js';
import { getLockServiceToken } from '../service/lock-service.token.js';

/**
 * The place where the instances of one class keep the `LockService` of one connection. Nest injects it like a property.
 * The explorer binds it to instances that Nest does not construct.
 */
export class ServiceSlot {
  readonly #hidden = Symbol('LockService');
  // Frozen instances cannot carry a property. Others do: a map would not find an instance through a Proxy around it.
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
   * A property key that Nest's error shows with `toString()`. The text is made at that moment: a second copy of the
   * package can only be detected when everything is loaded.
   */
  #injectedAt(key: symbol): symbol {
    const remedy = () => severalCopies() ?? `import ${registrationOf(this.connection)} in the root module`;
    const described = { [Symbol.toPrimitive]: () => key, toString: () => `${key.description}: ${remedy()}` };
    return described as unknown as symbol;
  }

  serviceOf(instance: object): LockService | undefined {
    return this.#boundTo(instance).at(-1);
  }

  /**
   * Binds the service. An object that two applications use (`useValue`) belongs to the application that bound it last.
   */
  bind(instance: object, service: LockService): void {
    this.#refuseOtherCopy(service);
    this.#store(instance, [...this.#without(service, instance), service]);
  }

  /**
   * Returns to the previous application's service, if there is one. The last service remains and reports that it is
   * shut down.
   */
  unbind(instance: object, service: LockService): void {
    const others = this.#without(service, instance);
    if (others.length > 0) this.#store(instance, others);
  }

  /**
   * Refuses a service of another copy of the package: the connection's name is the same there, but its class is not.
   */
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
