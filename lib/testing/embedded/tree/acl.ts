import type { Acl } from '../../../zookeeper/wire/records.js';
import { Refusal } from '../wire/refusal.js';
import type { AskedAcl } from '../wire/request-reader.js';
import { isInIpRange, isIpRange } from './identity.js';
import type { Identity } from './identity.js';

export const Permission = { read: 1, write: 2, create: 4, delete: 8, admin: 16, all: 31 } as const;

export const OPEN_ACL: readonly Acl[] = [{ permissions: Permission.all, scheme: 'world', id: 'anyone' }];
export const READ_ONLY_ACL: readonly Acl[] = [{ permissions: Permission.read, scheme: 'world', id: 'anyone' }];

/** @throws Refusal noAuth unless one of the identities has one of the permissions */
export function demandPermission(acl: readonly Acl[], permission: number, identities: readonly Identity[]): void {
  if (!permits(acl, permission, identities)) throw new Refusal('noAuth');
}

export function permits(acl: readonly Acl[], permission: number, identities: readonly Identity[]): boolean {
  if (acl === OPEN_ACL || acl.length === 0 || identities.some(({ scheme }) => scheme === 'super')) return true;
  return acl.some((entry) => (entry.permissions & permission) !== 0 && isFor(entry, identities));
}

function isFor(entry: Acl, identities: readonly Identity[]): boolean {
  if (isWorld(entry)) return true;
  return identities.some(({ scheme, id }) => {
    if (scheme !== entry.scheme) return false;
    return scheme === 'ip' ? isInIpRange(id, entry.id) : id === entry.id;
  });
}

function isWorld({ scheme, id }: Acl): boolean {
  return scheme === 'world' && id === 'anyone';
}

/**
 * Returns the ACL that is stored for the one that a client requests: without repetitions, and with the client's own ids
 * for `auth`.
 * @throws Refusal invalidAcl when it is empty or names an unknown scheme or id, RangeError when it needs an id and has
 *   null
 */
export function keptAcl(asked: readonly AskedAcl[], identities: readonly Identity[]): readonly Acl[] {
  const kept = withoutRepetitions(asked).flatMap((entry) => keptEntries(entry, identities));
  if (kept.length === 0) throw new Refusal('invalidAcl');
  // The usual ACL is a shared object, so that it is recognized by identity.
  const [only] = kept;
  return kept.length === 1 && only && isWorld(only) && only.permissions === Permission.all ? OPEN_ACL : kept;
}

function withoutRepetitions(asked: readonly AskedAcl[]): readonly AskedAcl[] {
  if (asked.length === 1) return asked;
  const found = new Set<string>();
  return asked.filter(({ permissions, scheme, id }) => {
    const kind = JSON.stringify([permissions, scheme]);
    // ZooKeeper compares an entry with earlier ones of the same permissions and scheme, and fails where the id is null.
    if (found.has(kind)) demandId(id);
    const entry = JSON.stringify([kind, id]);
    const isNew = !found.has(entry);
    found.add(kind).add(entry);
    return isNew;
  });
}

function keptEntries({ permissions, scheme, id }: AskedAcl, identities: readonly Identity[]): readonly Acl[] {
  // The id of `auth` is ignored.
  if (scheme === 'auth') return entriesOf(permissions, identities);
  const isValid = ID_CHECKS.get(scheme);
  if (!isValid) throw new Refusal('invalidAcl');
  const given = demandId(id);
  if (!isValid(given)) throw new Refusal('invalidAcl');
  return [{ permissions, scheme, id: given }];
}

const ID_CHECKS: ReadonlyMap<string, (id: string) => boolean> = new Map([
  ['world', (id) => id === 'anyone'],
  ['digest', (id) => /^[^:]*:[^:]+$/.test(id)],
  ['ip', isIpRange],
]);

function demandId(id: string | null): string {
  if (id === null) throw new RangeError('null instead of the id of an ACL entry');
  return id;
}

function entriesOf(permissions: number, identities: readonly Identity[]): readonly Acl[] {
  const proved = identities.filter(({ scheme }) => scheme === 'digest');
  if (proved.length === 0) throw new Refusal('invalidAcl');
  return proved.map(({ scheme, id }) => ({ permissions, scheme, id }));
}

/** Returns the ACL without the data that would let its reader guess passwords. */
export function maskedAcl(acl: readonly Acl[]): readonly Acl[] {
  return acl.map((entry) => (entry.scheme === 'digest' ? { ...entry, id: entry.id.replace(/:.*/s, ':x') } : entry));
}
