import { check } from '../contract/check.js';
import { checkKey } from '../contract/key.js';
import { refuseJobLockKey } from '../service/service-names.js';

/**
 * The key that a method locks: a fixed key, or a function of the method's arguments. Annotate the parameters of the
 * function; in a `function`, `this` is the instance.
 */
export type LockKey<A extends unknown[]> = string | ((this: never, ...args: A) => string);

/** One key, or several that are locked together, all or none. */
export type LockKeys<A extends unknown[]> =
  string | readonly string[] | ((this: never, ...args: A) => string | readonly string[]);

/** Refuses a value that a decorator cannot lock. */
type KeyCheck<K> = (title: string, key: unknown) => asserts key is K;

/** Reads the key from one call. @throws what the key function throws; LockConfigurationError when it returns no key */
type KeyReader<K> = (instance: unknown, args: unknown[]) => K;

/** @throws LockConfigurationError when a fixed key is not valid: at decoration rather than at the first call */
export function readerOfKey<A extends unknown[]>(title: string, source: LockKey<A>): KeyReader<string> {
  return readerOf(title, source, checkText);
}

/** @throws LockConfigurationError when fixed keys are not valid: at decoration rather than at the first call */
export function readerOfKeys<A extends unknown[]>(
  title: string,
  source: LockKeys<A>,
): KeyReader<string | readonly string[]> {
  return readerOf(title, source, checkTexts);
}

function readerOf<K extends string | readonly string[]>(
  title: string,
  source: unknown,
  checkIt: KeyCheck<K>,
): KeyReader<K> {
  if (typeof source !== 'function') {
    checkIt(title, source);
    [source].flat().forEach((key) => checkFixed(key, `${title}: the key`));
    return () => source;
  }
  return (instance, args) => {
    const key: unknown = Reflect.apply(source, instance, args);
    checkIt(title, key);
    return key;
  };
}

function checkFixed(key: string, field: string): void {
  checkKey(key, field);
  refuseJobLockKey(key, field);
}

function checkText(title: string, key: unknown): asserts key is string {
  check(isText(key), `${title}: the key`, key, 'text that is not empty');
}

function checkTexts(title: string, key: unknown): asserts key is string | readonly string[] {
  const areSeveral = Array.isArray(key) && key.length > 0 && key.every(isText);
  check(isText(key) || areSeveral, `${title}: the key`, key, 'text that is not empty, or an array of such');
}

function isText(value: unknown): boolean {
  return typeof value === 'string' && value !== '';
}
