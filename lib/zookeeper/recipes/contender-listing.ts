import type { Contender } from '../../contract/contender.js';
import type { SurveyedKey } from '../../contract/survey.js';
import type { Stat } from '../session/requests.js';
import type { Session } from '../session/session.js';
import { unlessMissing } from '../session/watch.js';
import { contenderOwner, contenderNameOf } from './contender-znode.js';
import type { ContenderName } from './contender-znode.js';
import { WaitQueueSnapshot } from './wait-queue-snapshot.js';

type Asked = Pick<Session, 'id' | 'requests' | 'persistently'>;

/** A znode as it was read. */
export interface SeenNode {
  readonly path: string;
  readonly name: string;
  readonly data: Buffer;
  readonly stat: Stat;
}

const MODES = { lock: 'exclusive', read: 'read', write: 'write', latch: 'exclusive' } as const;

/**
 * The contenders in the wait queue of a directory, in order. A contender that is deleted before it is read is left out.
 * @param most the number of contenders to read, from the first on
 */
export async function lineIn(session: Asked, path: string, signal: AbortSignal, most = Infinity): Promise<Contender[]> {
  const snapshot = new WaitQueueSnapshot(await childrenOf(session, path, signal));
  return contendersIn(session, path, snapshot, snapshot.inOrder.slice(0, most), signal);
}

/** The first contenders of a wait queue, and the numbers of all of them. */
export type FirstContenders = Pick<SurveyedKey, 'holders' | 'holding' | 'waiters' | 'waiting'>;

/**
 * The first contenders among the children of a directory that was listed. `undefined` when none of them exists any
 * more.
 * @param most the number of holders, and of waiting contenders, to read
 */
export async function firstContenders(
  session: Asked,
  { path, names }: { readonly path: string; readonly names: readonly string[] },
  most: number,
  signal: AbortSignal,
): Promise<FirstContenders | undefined> {
  const snapshot = new WaitQueueSnapshot(names);
  const { inOrder } = snapshot;
  const holding = countHolders(snapshot);
  const first = [...inOrder.slice(0, Math.min(holding, most)), ...inOrder.slice(holding, holding + most)];
  const found = await contendersIn(session, path, snapshot, first, signal);
  if (found.length === 0) return undefined;
  const [holders, waiters] = (['held', 'waiting'] as const).map((state) => found.filter((one) => one.state === state));
  return { holders: holders ?? [], holding, waiters: waiters ?? [], waiting: inOrder.length - holding };
}

/** The number of contenders at the beginning of a wait queue whose turn it is. */
export function countHolders(snapshot: WaitQueueSnapshot): number {
  const next = snapshot.inOrder.findIndex((one) => !isFirst(one, snapshot));
  return next < 0 ? snapshot.inOrder.length : next;
}

async function contendersIn(
  session: Asked,
  path: string,
  snapshot: WaitQueueSnapshot,
  contenders: readonly ContenderName[],
  signal: AbortSignal,
): Promise<Contender[]> {
  const paths = contenders.map(({ name }) => `${path}/${name}`);
  return (await present(session, paths, signal)).flatMap((node) => {
    const contender = contenderNameOf(node.name);
    return contender ? [{ ...seen(node, session.id), ...placed(contender, snapshot) }] : [];
  });
}

/** The znodes of the contenders in a directory's wait queue whose turn it is. */
export async function holdersIn(session: Asked, path: string, signal: AbortSignal): Promise<string[]> {
  const snapshot = new WaitQueueSnapshot(await childrenOf(session, path, signal));
  return snapshot.inOrder.filter((one) => isFirst(one, snapshot)).map(({ name }) => `${path}/${name}`);
}

/** The sequence numbers of the writers among these znodes. */
export function placesOfWriters(paths: readonly string[]): ReadonlySet<number> {
  const contenders = paths.map((path) => contenderNameOf(path.slice(path.lastIndexOf('/') + 1)));
  return new Set(contenders.flatMap((one) => (one?.kind === 'write' ? [one.number] : [])));
}

/** The znodes of the readers with these sequence numbers. */
export async function readersAt(
  session: Asked,
  path: string,
  places: ReadonlySet<number>,
  signal: AbortSignal,
): Promise<string[]> {
  const contenders = (await childrenOf(session, path, signal)).map(contenderNameOf);
  const readers = contenders.filter((one) => one?.kind === 'read' && places.has(one.number));
  return readers.map((reader) => `${path}/${reader?.name}`);
}

/** The names of the children. Empty when the directory does not exist. */
export async function childrenOf(session: Asked, path: string, signal: AbortSignal): Promise<readonly string[]> {
  return unlessMissing(
    session.persistently(() => session.requests.children(path), signal),
    [],
  );
}

/** Reads the znodes. Those that do not exist are left out. */
export async function present(session: Asked, paths: readonly string[], signal: AbortSignal): Promise<SeenNode[]> {
  const read = (path: string) => session.persistently(() => session.requests.read(path), signal);
  const asked = paths.map(async (path) => {
    const found = await unlessMissing(read(path), undefined);
    return found && { ...found, path, name: path.slice(path.lastIndexOf('/') + 1) };
  });
  return (await Promise.all(asked)).filter((node) => node !== undefined);
}

/** The part of a contender's description that comes from its znode. */
export function seen({ data, stat }: SeenNode, sessionId: bigint) {
  const { isKept, ...owner } = contenderOwner(data);
  return { owner, isKept, since: new Date(Number(stat.ctime)), isOwn: stat.ephemeralOwner === sessionId };
}

function placed(contender: ContenderName, snapshot: WaitQueueSnapshot): Pick<Contender, 'state' | 'mode' | 'isLocal'> {
  const state = isFirst(contender, snapshot) ? 'held' : 'waiting';
  return { state, mode: MODES[contender.kind], isLocal: false };
}

/**
 * Whether it is the contender's turn. A writer of Curator's that also reads has two znodes with one number, until it is
 * only a reader.
 */
function isFirst(one: ContenderName, snapshot: WaitQueueSnapshot): boolean {
  return (snapshot.ahead(one, 2) ?? []).every((other) => one.number === other.number && isWriterWhoReads(one, other));
}

function isWriterWhoReads(one: ContenderName, other: ContenderName): boolean {
  return (one.kind === 'write' && other.kind === 'read') || (one.kind === 'read' && other.kind === 'write');
}
