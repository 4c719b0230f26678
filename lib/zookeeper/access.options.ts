import { X509Certificate } from 'node:crypto';
import { createSecureContext } from 'node:tls';
import type { SecureContext, SecureContextOptions } from 'node:tls';
import { check, describe } from '../contract/check.js';
import { LockConfigurationError } from '../contract/errors.js';
import type { TlsOptions } from './client/dialer.js';
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

// The value is a secret, or next to one, so the message contains only its type.
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

/** The TLS options that can be set. The secure context is made from them. */
export type ZooKeeperTls = Omit<TlsOptions, 'secureContext'>;

const CERTIFICATE = /-----BEGIN ([A-Z0-9 ]*CERTIFICATE)-----[\s\S]*?-----END \1-----/g;
const PEM = 'in PEM format, the text itself and not the name of a file';

/**
 * Checks the TLS options and makes the secure context now. Later, wrong material would throw while connecting, where it
 * cannot be caught. A wrong `ca` would even be ignored.
 * @throws LockConfigurationError that names the wrong field, and never contains a secret
 */
export function resolveTls(tls: unknown): TlsOptions | undefined {
  if (tls === undefined || tls === false) return undefined;
  if (tls === true) return {};
  check(typeof tls === 'object' && tls !== null && !Array.isArray(tls), 'tls', tls, 'true, false or an object');
  const options: ZooKeeperTls = { ...tls };
  checkKinds(options);
  checkAuthorities(options.ca);
  checkPair(options);
  const { cert, key, pfx, passphrase, minVersion } = options;
  tryContext({ minVersion }, () => 'tls.minVersion must be a version such as "TLSv1.2"');
  tryContext({ cert }, () => `tls.cert must be a certificate ${PEM}`);
  tryContext({ key, passphrase }, () => wrongKey(key));
  tryContext({ cert, key, passphrase }, () => 'tls.key must be the private key of tls.cert');
  tryContext({ pfx, passphrase }, wrongArchive);
  return { ...options, secureContext: tryContext(options, () => 'tls must be what tls.connect() of Node takes') };
}

function checkKinds({ passphrase, servername, rejectUnauthorized, checkServerIdentity }: ZooKeeperTls): void {
  // The passphrase is a secret, so the message contains only its type.
  if (!isOptional(passphrase, 'string')) {
    throw new LockConfigurationError(`tls.passphrase must be a string, got ${typeof passphrase}`);
  }
  check(isOptional(servername, 'string'), 'tls.servername', servername, 'a string');
  check(isOptional(rejectUnauthorized, 'boolean'), 'tls.rejectUnauthorized', rejectUnauthorized, 'true or false');
  check(isOptional(checkServerIdentity, 'function'), 'tls.checkServerIdentity', checkServerIdentity, 'a function');
}

/** Checks `ca`, because Node ignores a value that is not a certificate, and then trusts no server. */
function checkAuthorities(ca: unknown): void {
  if (ca === undefined) return;
  const given: readonly unknown[] = Array.isArray(ca) ? ca : [ca];
  const areAll = given.length > 0 && given.every((one) => certificatesIn(one) > 0);
  if (areAll) return;
  const isPem = typeof ca === 'string' && ca.includes('-----');
  const got = isPem ? 'PEM text without a readable certificate' : describe(ca);
  throw new LockConfigurationError(`tls.ca must be certificates ${PEM}, got ${got}`);
}

/** Returns the number of certificates in the material, or 0 when one of them cannot be read. */
function certificatesIn(material: unknown): number {
  const blocks = textOf(material).match(CERTIFICATE) ?? [];
  return blocks.every(isCertificate) ? blocks.length : 0;
}

function textOf(material: unknown): string {
  if (!ArrayBuffer.isView(material)) return typeof material === 'string' ? material : '';
  return Buffer.from(material.buffer, material.byteOffset, material.byteLength).toString();
}

function isCertificate(pem: string): boolean {
  try {
    return new X509Certificate(pem).fingerprint256 !== '';
  } catch {
    return false;
  }
}

/** Checks that a certificate and its key are given together. A certificate is sent only with its key. */
function checkPair({ cert, key, pfx }: ZooKeeperTls): void {
  if (pfx !== undefined || (cert === undefined) === (key === undefined)) return;
  const [given, missing] = key === undefined ? ['cert', 'key'] : ['key', 'cert'];
  throw new LockConfigurationError(`tls.${missing} must be given together with tls.${given}, got undefined`);
}

function wrongKey(key: ZooKeeperTls['key']): string {
  const isEncrypted = [key].flat().some((one) => textOf(one).includes('ENCRYPTED'));
  return isEncrypted ? 'tls.passphrase must be the one of tls.key' : `tls.key must be a private key ${PEM}`;
}

function wrongArchive({ message }: Error): string {
  const isLocked = /mac verify|decrypt/i.test(message);
  return isLocked ? 'tls.passphrase must be the one of tls.pfx' : 'tls.pfx must be a PKCS#12 archive, as a Buffer';
}

/** @param expected the error text when Node cannot make a secure context from the options */
function tryContext(options: SecureContextOptions, expected: (error: Error) => string): SecureContext {
  try {
    return createSecureContext(options);
  } catch (cause) {
    throw new LockConfigurationError(`${expected(cause as Error)} (${reasonOf(cause as NodeJS.ErrnoException)})`, {
      cause,
    });
  }
}

// Node's message for a wrong type contains the value, which may be a secret.
function reasonOf({ code, message }: NodeJS.ErrnoException): string {
  return code === 'ERR_INVALID_ARG_TYPE' ? 'it is of the wrong type' : message;
}

function isOptional(value: unknown, kind: string): boolean {
  return value === undefined || typeof value === kind;
}
