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
 * Refuses that a decorator is written without parentheses. The compiler then calls the factory as the decorator: nothing
 * would be locked, and without a type check nobody would say so.
 * @param usage how it is written, such as `@DistributedLock('key')`
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

/** Whether the instance's class has a method of its own there, so that nothing calls this one but that may. */
export function isOverriddenIn(instance: object, { prototype, name }: DecoratedPlace): boolean {
  let owner: object | null = Object.getPrototypeOf(instance);
  while (owner && !Object.hasOwn(owner, name)) owner = Object.getPrototypeOf(owner);
  return owner !== prototype;
}

function need(isMet: boolean, what: string, why: string): asserts isMet {
  if (!isMet) throw new LockConfigurationError(`${what} ${why}`);
}

/** What a decorator stands on, from what the compiler calls it with. */
function placeOf(target: unknown, name: unknown, descriptor: unknown): string {
  if (isStandardContext(name)) return name.kind === 'class' ? `class ${String(name.name)}` : String(name.name);
  const owner = isClass(target) ? target.name : isObject(target) ? target.constructor?.name : 'a class';
  // A decorator of the application's own need not hand on the name.
  if (isPrototype(target) && typeof name !== 'string' && typeof name !== 'symbol') return `a member of ${owner}`;
  const member = name === undefined ? owner : `${owner}.${String(name as PropertyKey)}`;
  if (typeof descriptor === 'number') return `a parameter of ${name === undefined ? `new ${owner}` : member}`;
  return name === undefined ? `class ${owner}` : member;
}

/** Whether the arguments are what a compiler calls a decorator with. */
export function isDecoratorCall(call: ArrayLike<unknown>): boolean {
  const [target, name] = [call[0], call[1]];
  // Also of a decorator that a function of the application's makes, which is used without parentheses itself.
  if (isStandardContext(name) || isPrototype(target)) return true;
  if (call.length === 1) return isClass(target);
  const isTarget = isClass(target) || (isObject(target) && !Array.isArray(target));
  return isTarget && (call.length > 2 || typeof name === 'string' || typeof name === 'symbol');
}

/** Of a decorator that is not TypeScript's own kind. */
function isStandardContext(name: unknown): name is { readonly kind: unknown; readonly name?: unknown } {
  return isObject(name) && 'kind' in name;
}

/** A function that may be one of the arguments has a prototype that can be replaced, or none. */
function isClass(value: unknown): value is Function {
  return typeof value === 'function' && Object.getOwnPropertyDescriptor(value, 'prototype')?.writable === false;
}

function isPrototype(value: unknown): boolean {
  return isObject(value) && Object.hasOwn(value, 'constructor') && value.constructor?.prototype === value;
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}
