import { check, describe } from '../contract/check.js';
import { LockConfigurationError } from '../contract/errors.js';
import type { Acl } from './client/zookeeper-client.js';

export type { Acl as ZooKeeperAcl };

/** Credentials for one authentication scheme. */
export interface ZooKeeperAuth {
  /** For example `'digest'`. */
  readonly scheme: string;
  /** For `digest`: `user:password`. */
  readonly credentials: string;
}

const ALL_PERMISSIONS = 31;
const OPEN: readonly Acl[] = [{ permissions: ALL_PERMISSIONS, scheme: 'world', id: 'anyone' }];
const CREATOR: readonly Acl[] = [{ permissions: ALL_PERMISSIONS, scheme: 'auth', id: '' }];

/** @throws LockConfigurationError that names the wrong field, and never the credentials */
export function resolveAuth(auth: unknown): readonly ZooKeeperAuth[] {
  if (auth === undefined) return [];
  const list: readonly unknown[] = Array.isArray(auth) ? auth : [auth];
  return list.map((entry) => {
    if (typeof entry !== 'object' || entry === null) throw wrongAuth(entry);
    const { scheme, credentials } = entry as Partial<ZooKeeperAuth>;
    check(typeof scheme === 'string' && scheme !== '', 'auth.scheme', scheme, "a string such as 'digest'");
    if (typeof credentials !== 'string') throw wrongCredentials(credentials);
    return { scheme, credentials };
  });
}

/** @throws LockConfigurationError that names the wrong field */
export function resolveAcl(given: unknown, auth: readonly ZooKeeperAuth[]): readonly Acl[] {
  const acl = given === undefined ? (auth.length > 0 ? 'creator' : 'open') : given;
  if (acl === 'open') return OPEN;
  if (acl === 'creator') {
    check(auth.length > 0, 'acl', acl, "'open' or a list where no auth is given");
    return CREATOR;
  }
  check(Array.isArray(acl) && acl.length > 0, 'acl', acl, "'open', 'creator' or a list of at least one entry");
  return acl.map(resolveEntry);
}

function resolveEntry(entry: unknown): Acl {
  check(typeof entry === 'object' && entry !== null, 'acl', entry, 'a list of { permissions, scheme, id }');
  const { permissions, scheme, id } = entry as Partial<Acl>;
  const isPermissions = typeof permissions === 'number' && permissions >= 1 && permissions <= ALL_PERMISSIONS;
  const sum = 'a sum of READ 1, WRITE 2, CREATE 4, DELETE 8, ADMIN 16';
  check(isPermissions && Number.isInteger(permissions), 'acl.permissions', permissions, sum);
  check(typeof scheme === 'string', 'acl.scheme', scheme, 'a string');
  check(typeof id === 'string', 'acl.id', id, 'a string');
  return { permissions, scheme, id };
}

// The value is a secret, or next to one: only its kind is told.
function wrongAuth(auth: unknown): LockConfigurationError {
  const expected = "{ scheme: 'digest', credentials: 'user:password' }";
  return new LockConfigurationError(
    `auth must be an object such as ${expected}, got ${auth === null ? 'null' : typeof auth}`,
  );
}

function wrongCredentials(credentials: unknown): LockConfigurationError {
  const kind = typeof credentials === 'object' ? describe(credentials) : typeof credentials;
  return new LockConfigurationError(`auth.credentials must be a string such as "user:password", got ${kind}`);
}
