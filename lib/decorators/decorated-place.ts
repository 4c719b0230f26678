import { LockConfigurationError } from '../contract/errors.js';

/** A method of a class, and its names for messages. */
export interface DecoratedPlace {
  /** The decorator and the place, such as `@DistributedLock on Orders.place`. */
  readonly title: string;
  /** The class and the method, such as `Orders.place`. */
  readonly place: string;
  readonly prototype: object;
  readonly name: string | symbol;
}

/**
 * Returns the place that a decorator is applied to.
 * @throws LockConfigurationError where a lock cannot be put; the message gives the reason and the alternative
 */
export function decoratedPlace(decorator: string, target: unknown, name: unknown, descriptor: unknown): DecoratedPlace {
  need(!isStandardContext(name), decorator, 'needs "experimentalDecorators": true in tsconfig.json, as Nest does');
  const place = placeOf(target, name, descriptor);
  const title = `${decorator} on ${place}`;
  need(typeof descriptor !== 'number', title, 'cannot lock a parameter: put it above the method');
  need(typeof name === 'string' || typeof name === 'symbol', title, 'cannot lock a class: put it above its methods');
  need(isObject(target), title, 'cannot lock a static method: it has no instance to be given a LockService');
  need(isObject(descriptor), title, 'cannot lock a property: turn the arrow function into a method');
  need('value' in descriptor, title, 'cannot lock an accessor, which cannot wait: turn it into an async method');
  need(typeof descriptor.value === 'function', title, 'can only lock a method');
  return { title, place, prototype: target, name };
}

/**
 * Rejects a decorator that is written without parentheses. The compiler then calls the factory as the decorator:
 * nothing would be locked, and without a type check no error would be reported.
 * @param usage the correct spelling, such as `@DistributedLock('key')`
 * @param call the arguments of the factory
 * @throws LockConfigurationError that names the place
 */
export function needParentheses(usage: string, call: ArrayLike<unknown>): void {
  if (!isDecoratorCall(call)) return;
  const [decorator] = usage.split('(');
  throw new LockConfigurationError(
    `${decorator} on ${placeOf(call[0], call[1], call[2])} needs parentheses: write ${usage}`,
  );
}

/** Whether the instance's class overrides this method, so that only the overriding method can call it. */
export function isOverriddenIn(instance: object, { prototype, name }: DecoratedPlace): boolean {
  let owner: object | null = Object.getPrototypeOf(instance);
  while (owner && !Object.hasOwn(owner, name)) owner = Object.getPrototypeOf(owner);
  return owner !== prototype;
}

function need(isMet: boolean, what: string, why: string): asserts isMet {
  if (!isMet) throw new LockConfigurationError(`${what} ${why}`);
}

/**
 * The name of the decorated class, member or parameter, from the arguments that the compiler calls the decorator with.
 */
function placeOf(target: unknown, name: unknown, descriptor: unknown): string {
  if (isStandardContext(name)) return name.kind === 'class' ? `class ${String(name.name)}` : String(name.name);
  const owner = isClass(target) ? target.name : isObject(target) ? target.constructor?.name : 'a class';
  // A decorator of the application may call this one without passing on the name.
  if (isPrototype(target) && typeof name !== 'string' && typeof name !== 'symbol') return `a member of ${owner}`;
  const member = name === undefined ? owner : `${owner}.${String(name as PropertyKey)}`;
  if (typeof descriptor === 'number') return `a parameter of ${name === undefined ? `new ${owner}` : member}`;
  return name === undefined ? `class ${owner}` : member;
}

/** Whether the arguments are those that a compiler calls a decorator with. */
export function isDecoratorCall(call: ArrayLike<unknown>): boolean {
  const [target, name] = [call[0], call[1]];
  // An application's function may make the decorator, and may itself be used without parentheses.
  if (isStandardContext(name) || isPrototype(target)) return true;
  if (call.length === 1) return isClass(target);
  const isTarget = isClass(target) || (isObject(target) && !Array.isArray(target));
  return isTarget && (call.length > 2 || typeof name === 'string' || typeof name === 'symbol');
}

/**
 * Whether the second argument is the context object of a standard (ECMAScript) decorator, not TypeScript's own kind.
 */
function isStandardContext(name: unknown): name is { readonly kind: unknown; readonly name?: unknown } {
  return isObject(name) && 'kind' in name;
}

/** Whether the value is a class. Other functions have a `prototype` that can be replaced, or none. */
function isClass(value: unknown): value is Function {
  return typeof value === 'function' && Object.getOwnPropertyDescriptor(value, 'prototype')?.writable === false;
}

function isPrototype(value: unknown): boolean {
  return isObject(value) && Object.hasOwn(value, 'constructor') && value.constructor?.prototype === value;
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}
