import 'reflect-metadata';

/**
 * A function that does something else and looks like the original to everyone: name, length, own properties, and
 * whatever decorators have said about it.
 */
export function disguised<F extends object>(
  original: F,
  call: (instance: unknown, args: unknown[], original: F) => unknown,
): F {
  const proxy = new Proxy(original, {
    apply: (target, instance: unknown, args: unknown[]) => call(instance, args, target),
  });
  for (const key of Reflect.getOwnMetadataKeys(original)) {
    Reflect.defineMetadata(key, Reflect.getOwnMetadata(key, original), proxy);
  }
  return proxy;
}
