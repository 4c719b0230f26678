/**
 * Entering with a znode that can be told from all others: when the connection is lost before the reply, the znode is
 * found again if the create was applied, and is never made twice. The list of contenders is asked for right behind the
 * create on the same connection, so it shows all who were before, and costs no round trip; it is left out where the number is
 * to show that nobody was, see `succession.ts`.
 * Source: Curator's "protected" creates.
 */
import { randomUUID } from 'node:crypto';
import { now } from '../../async/clock.js';
import type { LockRequest } from '../../contract/lock-request.js';
import { CreateMode, isConnectionLoss, isKeeperError } from '../session/requests.js';
import type { CreatedNode } from '../session/requests.js';
import type { Session } from '../session/session.js';
import { contenderData } from './contender-data.js';
import { Contender } from './contender.js';
import { createNodes } from './create-node.js';
import type { NewNode } from './create-node.js';
import { findAt, findByName } from './own-znodes.js';
import type { LockDirectory } from './lock-directory.js';
import type { Line } from './line.js';
import { entryDelayAt } from './lines.js';
import { contenderNameId, hasOthers, markOf, numberOf } from './standing.js';
import type { ContenderKind } from './standing.js';
import type { Entrance } from './succession.js';

/** A contender that has just entered, and who was there then, if that was learned in the same round trip. */
export interface Entry {
  readonly contender: Contender;
  readonly line: Line;
  readonly names: readonly string[] | undefined;
  /** Of one who came in alone, and excludes all others: whoever follows it may be told by its number to be alone. */
  readonly entrance?: Entrance | undefined;
  /** How long it took to come in, in milliseconds: what an answer of the servers takes. */
  readonly tookMs: number;
}

/** Who enters: what its znode says, and when it has given up. */
interface Entrant extends Pick<LockRequest, 'label' | 'signal' | 'keeps'>, Partial<Pick<LockRequest, 'wait'>> {
  /** What the znode is to say instead of who made it. */
  readonly data?: Buffer;
  /** Done before the znode with this id in its name is made, each time that it is attempted. */
  readonly before?: (id: string) => Promise<void>;
}

/** Contenders that have entered together, and who was there then, if that was learned in the same round trip. */
export interface GroupEntry {
  readonly contenders: readonly Contender[];
  readonly names: readonly string[] | undefined;
}

/** Znodes to be made, and how to look for them when it is not known whether they were. */
interface Attempt {
  readonly nodes: readonly NewNode[];
  readonly find: () => Promise<readonly CreatedNode[]>;
  readonly before?: (() => Promise<void>) | undefined;
}

/**
 * Takes a place at the end of the line. Rejects with `signal.reason` instead of making a second attempt.
 * @param entrance of one who excludes all others
 */
export function enterLine(
  session: Session,
  directory: LockDirectory,
  kind: ContenderKind,
  { label, wait = false, signal, keeps, data = contenderData(label), before }: Entrant,
  entrance?: Entrance,
): Promise<Entry> {
  const nextAttempt = (): Attempt => {
    const id = contenderNameId(keeps);
    const name = `_c_${id}-${markOf(kind)}`;
    const node = { name, mode: CreateMode.ephemeralSequential, data };
    return { nodes: [node], find: () => findByName(session, directory, name), before: before && (() => before(id)) };
  };
  const send = () => enterOne(session, directory, signal, nextAttempt, entrance);
  const { path, entryDelayMs = 0 } = directory;
  const delay = entryDelayAt(session, path, kind);
  if (wait && entryDelayMs > 0 && delay?.isWorthIt) return delay.hold(entryDelayMs, [signal, session.signal], send);
  // Nobody passes those who are held back.
  delay?.end();
  return send();
}

/** So many znodes, all of them or none; `id` is what they say of who made them. Rejects as above. */
export async function enterTogether(
  session: Session,
  directory: LockDirectory,
  { mark, count, id }: { readonly mark: string; readonly count: number; readonly id: string },
  { label, signal }: Entrant,
): Promise<GroupEntry> {
  const { contenders, listed } = await enter(session, directory, signal, () => {
    const name = `_c_${contenderNameId()}-${mark}`;
    const node = { name, mode: CreateMode.ephemeralSequential, data: contenderData(label, id) };
    return { nodes: Array.from({ length: count }, () => node), find: () => findByName(session, directory, name) };
  });
  const names = await listed;
  return { contenders, names: contenders.every(({ name }) => names?.includes(name)) ? names : undefined };
}

/** Takes a place under a name that is an id and nothing else. Rejects as `enterLine` does. */
export function enterNamed(session: Session, directory: LockDirectory, { label, signal }: Entrant): Promise<Entry> {
  return enterOne(session, directory, signal, () => {
    const name = randomUUID();
    const node = { name, mode: CreateMode.ephemeral, data: contenderData(label) };
    return { nodes: [node], find: async () => [await findAt(session, `${directory.path}/${name}`)] };
  });
}

async function enterOne(
  session: Session,
  directory: LockDirectory,
  signal: AbortSignal,
  nextAttempt: () => Attempt,
  entrance?: Entrance,
): Promise<Entry> {
  const { contenders, listed, begun } = await enter(session, directory, signal, nextAttempt, entrance);
  const [contender] = contenders as readonly [Contender];
  const isAlone = entrance?.entered(numberOf(contender.name) ?? NaN) ?? false;
  const entry = await entryOf(contender, isAlone ? [contender.name] : listed, begun);
  const { names } = entry;
  return entrance && names && !hasOthers(contender.name, names) ? { ...entry, entrance } : entry;
}

type Listed = Promise<readonly string[] | undefined> | readonly string[];

/** @param listed what a list said that was asked for right behind the create */
export async function entryOf(contender: Contender, listed: Listed, begun: number): Promise<Entry> {
  const { line } = contender;
  const names = await listed;
  const tookMs = now() - begun;
  if (!names?.includes(contender.name)) return { contender, line, tookMs, names: undefined };
  line.saw(names);
  return { contender, line, tookMs, names };
}

/** What was made, and the list that was asked for right behind it. */
interface Made {
  readonly contenders: readonly Contender[];
  readonly listed: Promise<readonly string[] | undefined>;
  readonly begun: number;
}

const NOT_ASKED = Promise.resolve(undefined);

async function enter(
  session: Session,
  directory: LockDirectory,
  signal: AbortSignal,
  nextAttempt: () => Attempt,
  entrance?: Entrance,
): Promise<Made> {
  for (;;) {
    if (!session.isConnected || signal.aborted) await session.whenConnected(signal);
    const begun = now();
    const { nodes, find, before } = nextAttempt();
    if (before) await before();
    const created = createNodes(session.requests, directory, nodes);
    const listed = entrance?.needsNoList ? NOT_ASKED : session.requests.children(directory.path).catch(() => undefined);
    const found = await created.catch((error: unknown) => findAgain(session, directory, find, error));
    const contenders = found.map((node) => new Contender(session, node));
    if (found.length === nodes.length) return { contenders, listed, begun };
    // Some alone: the others were deleted from outside, and these are of no use.
    await Promise.all(contenders.map((contender) => contender.leave(0)));
  }
}

/** After a lost reply: the znodes, if the create was applied. What an earlier session made is never taken for them. */
async function findAgain(
  session: Session,
  directory: LockDirectory,
  find: () => Promise<readonly CreatedNode[]>,
  error: unknown,
): Promise<readonly CreatedNode[]> {
  if (!isConnectionLoss(error)) throw error;
  // Not cut short by the caller's signal: whoever gave up still has to know whether there is a znode to delete.
  const search = session.surely(async () => {
    // The server now connected may not have heard of the create yet; after a sync it has, or never will.
    await session.requests.sync(directory.path);
    return find();
  });
  return search.catch((failure: unknown) => {
    if (isKeeperError(failure, 'noNode')) return [];
    throw failure;
  });
}
