import { LockConfigurationError } from '../../contract/errors.js';
import type { EtcdLink } from '../client/etcd-link.js';
import { RefusedError } from '../client/etcd-error.js';
import type { StatusResponse } from '../wire/responses.js';

const OLDEST = [3, 4] as const;
/** The first versions, by their minor number, in which a former leader ends no lease that lives at the present one. */
const FIRST_SOUND: Readonly<Record<number, number>> = { 4: 31, 5: 13 };
const LONG_HISTORY = 100_000;

/** @throws LockConfigurationError for a server that is too old */
export function checkVersion({ version }: StatusResponse): void {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  if (major > OLDEST[0] || (major === OLDEST[0] && minor >= OLDEST[1])) return;
  const change = `etcd() needs etcd ${OLDEST.join('.')} or later: upgrade the server`;
  throw new LockConfigurationError(`the etcd server has version ${version}; ${change}`);
}

/** Returns warnings for an operator. @throws LinkLostError, RefusedError */
export async function warningsOf(
  link: EtcdLink,
  { version, revision }: StatusResponse,
  key: string,
): Promise<readonly string[]> {
  return [...oldVersion(version), ...(await longHistory(link, revision, key))];
}

function oldVersion(version: string): readonly string[] {
  const [major, minor = 0, patch = 0] = version.split('.').map(Number);
  const sound = major === 3 ? FIRST_SOUND[minor] : undefined;
  if (sound === undefined || patch >= sound) return [];
  return [
    `etcd ${version} may end leases that live after a change of the leader: upgrade to 3.${minor}.${sound} or later`,
  ];
}

/** Servers do not tell whether they compact. Whether they still have old revisions can be asked. */
async function longHistory(link: EtcdLink, revision: number, key: string): Promise<readonly string[]> {
  if (revision <= LONG_HISTORY) return [];
  try {
    await link.range({ kind: 'read', key, only: 'count', revision: revision - LONG_HISTORY });
  } catch (error) {
    if (error instanceof RefusedError) return [];
    throw error;
  }
  return [
    `etcd has kept its last ${LONG_HISTORY} revisions or more, and every acquisition adds two: without compaction its ` +
      'database fills up, and etcd refuses every write. Set --auto-compaction-mode=periodic and ' +
      '--auto-compaction-retention=5m',
  ];
}
