import { Inject } from '@nestjs/common';
import { LockConfigurationError } from '../contract/errors.js';
import { registrationOf } from '../service/connection-token.js';
import { severalCopies } from '../service/loaded-copies.js';
import { getLockServiceToken } from '../service/lock-service.token.js';
import { LockService } from '../service/lock.service.js';
import type { DeclaredJob } from './declared-job.js';
import type { ElectionRole } from './election-role.js';

/** One decorated method: its place, and where it finds its `LockService`. */
export interface LockedMethod {
  /** The title for messages, such as `@DistributedLock on Orders.place`. */
  readonly title: string;
  /** The class and the method, such as `Orders.place`. */
  readonly place: string;
  /** The prototype of the class that has the decorator. */
  readonly prototype: object;
  readonly name: string | symbol;
  readonly slot: ServiceSlot;
  /** The method's job, when it has `@CronLock`. */
  readonly job?: DeclaredJob;
  /** The method's role in an election, when it has `@LeaderOnly`, `@OnElected` or `@OnDeposed`. */
  readonly election?: ElectionRole | undefined;
}

const methodsByPrototype = new WeakMap<object, LockedMethod[]>();

/** Registers a method of the class as locked, and makes Nest inject the `LockService`. */
export function registerLockedMethod(at: Omit<LockedMethod, 'slot'>, connection: string): LockedMethod {
  const { prototype, title } = at;
  const methods = methodsByPrototype.get(prototype) ?? [];
  const known = methods.find(({ slot }) => slot.connection === connection);
  const method = { ...at, slot: known?.slot ?? new ServiceSlot(prototype, connection, title) };
  methodsByPrototype.set(prototype, [...methods, method]);
  return method;
}

/** Returns the locked methods of an instance, inherited ones included. Reads no property of it. */
export function lockedMethodsOf(instance: object): readonly LockedMethod[] {
  return lockedMethodsOn(Object.getPrototypeOf(instance));
}

/** Returns the locked methods of a class, inherited ones included. Reads no property of it. */
export function lockedMethodsOn(prototype: object | null): readonly LockedMethod[] {
  const methods: LockedMethod[] = [];
  for (let chain = prototype; chain; chain = Object.getPrototypeOf(chain)) {
    methods.push(...(methodsByPrototype.get(chain) ?? []));
  }
  return methods;
}

/**
 * Returns the instance's service.
 * @throws LockConfigurationError when there is none: the method must not run without its lock
 */
export function serviceFor(method: LockedMethod, instance: unknown): LockService {
  if (typeof instance !== 'object' || instance === null) {
    throw new LockConfigurationError(
      `${method.title} was called without its instance: call it as a method, or bind it`,
    );
  }
  const [service] = method.slot.servicesOf(instance);
  if (!service) throw new LockConfigurationError(`${method.title} ${unboundReason(method.slot.connection)}`);
  return service;
}

function unboundReason(connection: string): string {
  const reason = `has no LockService (connection "${connection}"), so it did not run`;
  const copies = severalCopies();
  if (copies !== undefined) return `${reason}: ${copies}`;
  return (
    `${reason}: its instance was not made by Nest. Make the ` +
    'class a provider of an application that imports LockModule.forRoot(). What "new" makes, outside of Nest or in a ' +
    'factory that is request-scoped, transient or loaded lazily, cannot be given its locks. In unit ' +
    "tests write LockTesting.bind(new Service()), or import LockTestingModule.forRoot(), of 'nestjs-distributed-lock/testing'."
  );
}

/**
 * The place where the instances of one class keep the `LockService` of one connection. Nest injects it like a property.
 * The explorer binds it to instances that Nest does not construct.
 */
class ServiceSlot {
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

  /** Returns the services that the instance is bound to, the one that its calls use first. */
  servicesOf(instance: object): readonly LockService[] {
    return this.#ofFrozen.get(instance) ?? Reflect.get(instance, this.#hidden) ?? [];
  }

  /**
   * Binds the service. An object that two applications use (`useValue`) belongs to the application that bound it last.
   */
  bind(instance: object, service: LockService): void {
    this.#refuseOtherCopy(service);
    this.#store(instance, [service, ...this.#without(service, instance)]);
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
    return this.servicesOf(instance).filter((bound) => bound !== service);
  }

  #store(instance: object, services: readonly LockService[]): void {
    const hidden = { value: services, enumerable: false, configurable: true, writable: true };
    if (!Reflect.defineProperty(instance, this.#hidden, hidden)) this.#ofFrozen.set(instance, services);
  }
}

/**
 * Returns the stand-in that a test has put in the place of the service, inside a proxy: it throws an error that names
 * what the stand-in lacks. Otherwise a stand-in that does nothing would make the method do nothing.
 */
export function completed(service: LockService, title: string): LockService {
  return new Proxy<LockService>(service, {
    get: (target, name) => {
      const member: unknown = Reflect.get(target, name);
      if (typeof member !== 'function') throw standIn(title, `has no ${String(name)}()`);
      return (...args: unknown[]): unknown => {
        const made: unknown = Reflect.apply(member, target, args);
        if (typeof made === 'object' && made !== null) return made;
        throw standIn(title, `has a ${String(name)}() that returns no lock`);
      };
    },
  });
}

/** The error for anything in the place of a lock that is not one. */
export function notALock(title: string): LockConfigurationError {
  return standIn(title, 'makes a lock that has no using()');
}

/** The error for a lock that has neither run the method nor refused it. */
export function neverRun(title: string): LockConfigurationError {
  return standIn(title, 'makes a lock whose using() does not call what it is given');
}

function standIn(title: string, what: string): LockConfigurationError {
  return new LockConfigurationError(
    `${title} did not run: the LockService that it was given is a stand-in that ${what}. In unit tests import ` +
      "LockTestingModule.forRoot() of 'nestjs-distributed-lock/testing': it runs methods under locks in memory",
  );
}
