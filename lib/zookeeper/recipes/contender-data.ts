import { hostname } from 'node:os';
import type { ContenderOwner } from '../../contract/contender.js';

// Read once: it is a call of the operating system.
export const HOST = hostname();
const NAMELESS = Buffer.from(JSON.stringify({ host: HOST, pid: process.pid }));

// Curator's Revoker writes this in place of a holder's data. Curator's revocable locks look for it.
const REVOKE = Buffer.from('__REVOKE__');

/** The data of a contender's znode, which describes its owner. */
export function contenderData(label?: string, id?: string, isKept?: true): Buffer {
  if (label === undefined && id === undefined && !isKept) return NAMELESS;
  return Buffer.from(JSON.stringify({ host: HOST, pid: process.pid, label, id, isKept }));
}

/** The owner that the data describes, as far as it does. */
export function contenderOwner(data: Buffer): ContenderOwner & { readonly isKept: boolean } {
  const { host, pid, label, isKept } = fieldsOf(data);
  return {
    host: typeof host === 'string' ? host : undefined,
    pid: typeof pid === 'number' ? pid : undefined,
    label: typeof label === 'string' ? label : undefined,
    isKept: isKept === true,
  };
}

/** The id in the data, for a znode whose name is not unique. Foreign data has none. */
export function contenderId(data: Buffer): unknown {
  return fieldsOf(data)['id'];
}

/**
 * The data that requests revocation from the owner of this data. Curator's holders know one word only. The data of our
 * holders still describes the owner.
 */
export function revokedData(data: Buffer): Buffer {
  const fields = fieldsOf(data);
  const isOurs = typeof fields['host'] === 'string' && typeof fields['pid'] === 'number';
  return isOurs ? Buffer.from(JSON.stringify({ ...fields, isRevoked: true })) : REVOKE;
}

/** Whether the data requests revocation. */
export function isRevoked(data: Buffer): boolean {
  return data.equals(REVOKE) || fieldsOf(data)['isRevoked'] === true;
}

/** The fields in the data of any kind of znode. Empty when the data is not in our format. */
export function fieldsOf(data: Buffer): Record<string, unknown> {
  try {
    return Object(JSON.parse(data.toString())) as Record<string, unknown>;
  } catch {
    return {};
  }
}
