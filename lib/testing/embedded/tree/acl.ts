import type { Acl } from '../../../zookeeper/wire/records.js';
import { Refusal } from '../wire/refusal.js';
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
 * The ACL that is kept for one that a client asks for: without repetitions, `auth` replaced by who the client is.
 * @throws Refusal invalidAcl when it is empty, or names what there is not
 */
export function keptAcl(asked: readonly Acl[], identities: readonly Identity[]): readonly Acl[] {
  const kept = withoutRepetitions(asked).flatMap((entry) => keptEntries(entry, identities));
  if (kept.length === 0) throw new Refusal('invalidAcl');
  // The usual one is shared, and then known at a glance.
  const [only] = kept;
  return kept.length === 1 && only && isWorld(only) && only.permissions === Permission.all ? OPEN_ACL : kept;
}

function withoutRepetitions(acl: readonly Acl[]): readonly Acl[] {
  if (acl.length === 1) return acl;
  return [
    ...new Map(acl.map((entry) => [JSON.stringify([entry.permissions, entry.scheme, entry.id]), entry])).values(),
  ];
}

function keptEntries(entry: Acl, identities: readonly Identity[]): readonly Acl[] {
  if (entry.scheme === 'auth') return entriesOf(entry.permissions, identities);
  const isDigest = entry.scheme === 'digest' && /^[^:]*:[^:]+$/.test(entry.id);
  const isRange = entry.scheme === 'ip' && isIpRange(entry.id);
  if (!isWorld(entry) && !isDigest && !isRange) throw new Refusal('invalidAcl');
  return [entry];
}

function entriesOf(permissions: number, identities: readonly Identity[]): readonly Acl[] {
  const proved = identities.filter(({ scheme }) => scheme === 'digest');
  if (proved.length === 0) throw new Refusal('invalidAcl');
  return proved.map(({ scheme, id }) => ({ permissions, scheme, id }));
}

/** Without what would let a reader of the ACL guess passwords. */
export function maskedAcl(acl: readonly Acl[]): readonly Acl[] {
  return acl.map((entry) => (entry.scheme === 'digest' ? { ...entry, id: entry.id.replace(/:.*/s, ':x') } : entry));
}
