/**
 * What answers, and after a lost reply the records themselves, tell of a write.
 * A record with the write's id: applied. One that is still as the write wants it, or that others have written from the
 * very version from which this write would have: not applied.
 */
import type { StoredRecord } from '../../contract/record-store.js';
import { isKeeperError } from '../session/requests.js';
import type { MultiResult, Stat } from '../session/requests.js';
import type { Session } from '../session/session.js';
import { isAsExpected } from './record-ops.js';
import type { PlacedChange } from './record-ops.js';

type ReadSession = Pick<Session, 'requests' | 'persistently'>;

/** The results of a transaction, by the change they are of. */
export type ResultsByChange = ReadonlyMap<PlacedChange, readonly MultiResult[]>;

/** What an applied write has written. */
export function writtenBy(
  changes: readonly PlacedChange[],
  results: ResultsByChange,
  writtenAt: Date | undefined,
): StoredRecord[] {
  return changes.flatMap((change) => {
    const { name, value } = change;
    if (typeof value !== 'string' || !writtenAt) return [];
    // Of a create there is no stat before ZooKeeper 3.9, and no other version than this.
    return { name, value, version: results.get(change)?.[0]?.stat?.version ?? 0, writtenAt };
  });
}

/** When an applied write was: one transaction has one time. `undefined` when it wrote nothing that still tells. */
export async function timeOf(
  session: ReadSession,
  changes: readonly PlacedChange[],
  results: ResultsByChange,
  signal: AbortSignal,
): Promise<Date | undefined> {
  const stat = [...results.values()].flat().find((result) => result.stat)?.stat;
  if (stat) return dateOf(stat.mtime);
  const created = changes.find(({ value }) => typeof value === 'string');
  return created && dateOf((await statOf(session, created.path, signal))?.ctime);
}

/** What the write has written, by the records; `undefined` when none of them shows it. */
export function tracesOf(changes: readonly PlacedChange[], writeId: string): StoredRecord[] | undefined {
  const trace = changes.map(({ sight }) => sight?.record).find((record) => record?.writeId === writeId);
  if (!trace) return undefined;
  return changes.flatMap(({ name, value, ifVersion, sight }) => {
    if (typeof value !== 'string') return [];
    const { record } = sight ?? {};
    // A record that others have written since was written by this write all the same.
    const version = record?.writeId === writeId ? record.version : versionAfter(ifVersion);
    return version === undefined ? [] : { name, value, version, writtenAt: trace.writtenAt };
  });
}

/** Whether the write, of which no record shows anything, was surely not applied. */
export function wasNotApplied(changes: readonly PlacedChange[]): boolean {
  const written = changes.filter(({ value, ifVersion }) => typeof value === 'string' || isRemoval(value, ifVersion));
  return written.length === 0 || written.some((change) => isAsBefore(change) || isFromOthers(change));
}

function isRemoval(value: PlacedChange['value'], ifVersion: PlacedChange['ifVersion']): boolean {
  return value === undefined && ifVersion !== 'absent';
}

function isAsBefore(change: PlacedChange): boolean {
  return change.ifVersion !== undefined && change.sight !== undefined && isAsExpected(change, change.sight);
}

/** Whether others have written the record from where this write would have. */
function isFromOthers({ ifVersion, sight }: PlacedChange): boolean {
  return ifVersion !== undefined && sight?.record?.version === versionAfter(ifVersion);
}

function versionAfter(ifVersion: PlacedChange['ifVersion']): number | undefined {
  return ifVersion === 'absent' ? 0 : ifVersion === undefined ? undefined : ifVersion + 1;
}

async function statOf(session: ReadSession, path: string, signal: AbortSignal): Promise<Stat | undefined> {
  try {
    return (await session.persistently(() => session.requests.read(path), signal)).stat;
  } catch (error) {
    if (isKeeperError(error, 'noNode')) return undefined;
    throw error;
  }
}

function dateOf(time: bigint | undefined): Date | undefined {
  return time === undefined ? undefined : new Date(Number(time));
}
