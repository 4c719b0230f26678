export const DEFAULT_CONNECTION = 'default';

/** How a connection is registered, for messages. */
export function registrationOf(connection: string): string {
  const isDefault = connection === DEFAULT_CONNECTION;
  return isDefault ? 'LockModule.forRoot({…})' : `LockModule.forRoot({ name: '${connection}', … })`;
}

/**
 * The injection token of a service of a connection that is not the default one: the same symbol for the same name. Where
 * nothing is registered, Nest's error shows its text, so that says what to do.
 */
export function connectionToken(service: string, connection: string): symbol {
  return Symbol.for(textOf(service, connection));
}

/** The connection whose token of this service it is, if it is one. */
export function connectionIn(token: unknown, service: string): string | undefined {
  const text = typeof token === 'symbol' ? (Symbol.keyFor(token) ?? '') : '';
  // The name stands in the text twice.
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
