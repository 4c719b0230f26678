import { LockConfigurationError } from '../contract/errors.js';
import type { LockService } from '../service/lock.service.js';
import type { DeclaredJob } from './declared-job.js';
import type { ElectionRole } from './election-role.js';
import { severalCopies } from '../service/loaded-copies.js';
import { ServiceSlot } from './service-slot.js';

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
  const service = method.slot.serviceOf(instance);
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
