import { RequestReader } from '../wire/request-reader.js';
import { opName } from '../wire/server-op-codes.js';
import type { ServerOpName } from '../wire/server-op-codes.js';
import { readParts } from './multi-request.js';

/** One thing that a request asks for; a transaction asks for several, besides for itself. */
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

/** By the type that each was sent with: what a server makes of it is another thing. */
function readAsked(reader: RequestReader): Asked[] {
  return readParts(reader).map(({ op, request }) => ({ op, path: request.path }));
}

/** What a request asks for, as far as it can be read. */
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
