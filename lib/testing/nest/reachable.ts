type Asked = (...args: unknown[]) => Promise<unknown>;

/**
 * Wraps an object that represents a remote one. While that cannot be reached, its methods, all of which are
 * asynchronous, reject.
 * @param assertReachable throws the reason why it cannot be reached
 */
export function reachable<T extends object>(inner: T, assertReachable: () => void): T {
  const ask = (method: Asked): Asked => {
    return async (...args) => {
      assertReachable();
      return method.apply(inner, args);
    };
  };
  return new Proxy(inner, {
    get(_, name) {
      const member: unknown = Reflect.get(inner, name, inner);
      return typeof member === 'function' ? ask(member as Asked) : member;
    },
  });
}
