/** What answers, and after a lost reply the records themselves, tell of a write. A record with the write's id: applied. */
import type { StoredRecord } from '../../contract/record-store.js';
import { isKeeperError } from '../session/requests.js';
import type { MultiOp, MultiResult, Stat } from '../session/requests.js';
import type { Session } from '../session/session.js';
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
export function tracesOf(
  changes: readonly PlacedChange[],
  sent: readonly MultiOp[],
  writeId: string,
): StoredRecord[] | undefined {
  const trace = changes.map(({ sight }) => sight?.record).find((record) => record?.writeId === writeId);
  if (!trace) return undefined;
  return changes.flatMap(({ name, path, value, sight }) => {
    if (typeof value !== 'string') return [];
    const { record } = sight ?? {};
    // A record that others have written since was written by this write all the same.
    const version = record?.writeId === writeId ? record.version : versionMadeAt(path, sent);
    return version === undefined ? [] : { name, value, version, writtenAt: trace.writtenAt };
  });
}

/** Whether the change leaves anything behind, where it is applied. */
export function isEffective({ value, ifVersion }: PlacedChange): boolean {
  return typeof value === 'string' || (value === undefined && ifVersion !== 'absent');
}

/** Whether the change must not be made twice: others may have undone it, and then it would hold once more. */
export function isConditional(change: PlacedChange): boolean {
  return isEffective(change) && change.ifVersion !== undefined;
}

/** The version that the transaction gave the record; `undefined` when it did not ask for one. */
function versionMadeAt(path: string, sent: readonly MultiOp[]): number | undefined {
  const op = sent.find((one) => one.path === path);
  if (op?.type === 'create2') return 0;
  return op?.type === 'setData' && op.version !== undefined ? op.version + 1 : undefined;
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
