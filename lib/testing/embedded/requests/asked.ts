import { RequestReader } from '../wire/request-reader.js';
import { opName } from '../wire/server-op-codes.js';
import type { ServerOpName } from '../wire/server-op-codes.js';
import { readParts } from './multi-request.js';

/** One operation of a request. A transaction has several, besides itself. */
export interface Asked {
  readonly op: ServerOpName;
  readonly path: string;
}

const WITHOUT_PATH: ReadonlySet<ServerOpName> = new Set([
  'ping',
  'closeSession',
  'auth',
  'whoAmI',
  'setWatches',
  'setWatches2',
]);

/** Reads each operation with the type that it was sent with, which may differ from the type that the server uses. */
function readAsked(reader: RequestReader): Asked[] {
  return readParts(reader).map(({ op, request }) => ({ op, path: request.path }));
}

/** Returns the operations of a request, as far as it can be read. */
export function askedFor(bytes: Buffer): Asked[] {
  try {
    const reader = new RequestReader(bytes);
    reader.int();
    const op = opName(reader.int());
    if (!op) return [];
    if (op !== 'multi' && op !== 'multiRead') return [{ op, path: WITHOUT_PATH.has(op) ? '' : reader.string() }];
    return [{ op, path: '' }, ...readAsked(reader)];
  } catch {
    return [];
  }
}
