export const DEFAULT_CONNECTION = 'default';

/** Returns the code that registers a connection, for messages. */
export function registrationOf(connection: string): string {
  const isDefault = connection === DEFAULT_CONNECTION;
  return isDefault ? 'LockModule.forRoot({…})' : `LockModule.forRoot({ name: '${connection}', … })`;
}

/**
 * Returns the injection token of a service of a connection that is not the default one. The same name yields the same
 * symbol. If nothing is registered, Nest's error shows the token's text, so the text contains what to do.
 */
export function connectionToken(service: string, connection: string): symbol {
  return Symbol.for(textOf(service, connection));
}

/** Returns the connection of a token of this service; `undefined` if it is not such a token. */
export function connectionIn(token: unknown, service: string): string | undefined {
  const text = typeof token === 'symbol' ? (Symbol.keyFor(token) ?? '') : '';
  // The name occurs in the text twice.
  const length = (text.length - textOf(service, '').length) / 2;
  const start = prefixOf(service).length;
  const connection = text.slice(start, start + length);
  return text === textOf(service, connection) ? connection : undefined;
}

function prefixOf(service: string): string {
  return `nestjs-distributed-lock: ${service} of connection "`;
}

function textOf(service: string, connection: string): string {
  return `${prefixOf(service)}${connection}": import LockModule.forRoot({ name: '${connection}', … }) in the root module`;
}
