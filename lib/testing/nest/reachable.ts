type Asked = (...args: unknown[]) => Promise<unknown>;

/**
 * What stands elsewhere, for as long as it can be reached; otherwise its methods, all of which are asynchronous, reject.
 * @param assertReachable throws why it can not be
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
