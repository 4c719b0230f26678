import 'reflect-metadata';

/**
 * Returns a function that runs `call` instead and otherwise looks like the original. It has the same name, length, own
 * properties and decorator metadata.
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
