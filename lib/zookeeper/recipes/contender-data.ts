import { hostname } from 'node:os';
import type { ContenderOwner } from '../../contract/contender.js';

// Asked once: it is a call of the operating system.
export const HOST = hostname();
const NAMELESS = Buffer.from(JSON.stringify({ host: HOST, pid: process.pid }));

// What Curator's Revoker writes in place of a holder's data, and what its revocable locks look for.
const REVOKE = Buffer.from('__REVOKE__');

/** What a contender's znode says about its owner to whoever looks. */
export function contenderData(label?: string, id?: string, isKept?: true): Buffer {
  if (label === undefined && id === undefined && !isKept) return NAMELESS;
  return Buffer.from(JSON.stringify({ host: HOST, pid: process.pid, label, id, isKept }));
}

/** Who wrote the data, as far as it says so. */
export function contenderOwner(data: Buffer): ContenderOwner & { readonly isKept: boolean } {
  const { host, pid, label, isKept } = fieldsOf(data);
  return {
    host: typeof host === 'string' ? host : undefined,
    pid: typeof pid === 'number' ? pid : undefined,
    label: typeof label === 'string' ? label : undefined,
    isKept: isKept === true,
  };
}

/** The id that the data carries, of a znode whose name is not its own. Foreign data has none. */
export function contenderId(data: Buffer): unknown {
  return fieldsOf(data)['id'];
}

/**
 * What asks the owner of this data to give way. Curator's holders know one word and nothing else; ours go on saying whose
 * they are.
 */
export function revokedData(data: Buffer): Buffer {
  const fields = fieldsOf(data);
  const isOurs = typeof fields['host'] === 'string' && typeof fields['pid'] === 'number';
  return isOurs ? Buffer.from(JSON.stringify({ ...fields, isRevoked: true })) : REVOKE;
}

/** Whether the data asks its owner to give way. */
export function isRevoked(data: Buffer): boolean {
  return data.equals(REVOKE) || fieldsOf(data)['isRevoked'] === true;
}

/** What the data says, of any kind of znode; nothing where it is not ours to read. */
export function fieldsOf(data: Buffer): Record<string, unknown> {
  try {
    return Object(JSON.parse(data.toString())) as Record<string, unknown>;
  } catch {
    return {};
  }
}
