import { LockConfigurationError } from '../contract/errors.js';

/** A method of a class, and its names for messages. */
export interface DecoratedPlace {
  /** `@DistributedLock on Orders.place` */
  readonly title: string;
  /** `Orders.place` */
  readonly place: string;
  readonly prototype: object;
  readonly name: string | symbol;
}

/** @throws LockConfigurationError where a lock cannot be put, saying why and what to do instead */
export function decoratedPlace(decorator: string, target: unknown, name: unknown, descriptor: unknown): DecoratedPlace {
  need(!isStandardContext(name), decorator, 'needs "experimentalDecorators": true in tsconfig.json, as Nest does');
  need(
    typeof name === 'string' || typeof name === 'symbol',
    decorator,
    'goes on a method, not on a class or parameter',
  );
  const prototype = typeof target === 'function' ? target.prototype : target;
  const place = `${prototype.constructor.name}.${String(name)}`;
  const title = `${decorator} on ${place}`;
  need(typeof target === 'object', title, 'cannot lock a static method: it has no instance to be given a LockService');
  need(isObject(descriptor), title, 'cannot lock a property: turn the arrow function into a method');
  need('value' in descriptor, title, 'cannot lock an accessor, which cannot wait: turn it into an async method');
  need(typeof descriptor.value === 'function', title, 'can only lock a method');
  return { title, place, prototype, name };
}

/** Whether the instance's class has a method of its own there, so that nothing calls this one but that may. */
export function isOverriddenIn(instance: object, { prototype, name }: DecoratedPlace): boolean {
  let owner: object | null = Object.getPrototypeOf(instance);
  while (owner && !Object.hasOwn(owner, name)) owner = Object.getPrototypeOf(owner);
  return owner !== prototype;
}

function need(isMet: boolean, what: string, why: string): asserts isMet {
  if (!isMet) throw new LockConfigurationError(`${what} ${why}`);
}

function isStandardContext(name: unknown): boolean {
  return isObject(name) && 'kind' in name;
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}
