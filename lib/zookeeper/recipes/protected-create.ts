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
import { CreateMode, ErrorCode, isConnectionLoss, isKeeperError, KeeperError } from '../session/requests.js';
import type { CreatedNode, MultiOp } from '../session/requests.js';
import type { Session } from '../session/session.js';
import { unlessMissing } from '../session/watch.js';
import { contenderData } from './contender-data.js';
import { contenderNameId, hasOthers, markOf, numberOf } from './contender-name.js';
import type { ContenderKind } from './contender-name.js';
import { Contender } from './contender.js';
import { createNodes, missingParents, parentOp, refusedAt } from './create-node.js';
import type { NewNode } from './create-node.js';
import type { LockDirectory } from './lock-directory.js';
import type { FastPathEntry } from './sequence-fast-path.js';
import { entryDelayAt } from './wait-queue-view.js';
import type { Line } from './wait-queue-view.js';

/** A contender that has just entered, and who was there then, if that was learned in the same round trip. */
export interface Entry {
  readonly contender: Contender;
  readonly line: Line;
  readonly names: readonly string[] | undefined;
  /** Of one who came in alone, and excludes all others: whoever follows it may be told by its number to be alone. */
  readonly entrance?: FastPathEntry | undefined;
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
interface GroupEntry {
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
  entrance?: FastPathEntry,
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
  entrance?: FastPathEntry,
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
async function entryOf(contender: Contender, listed: Listed, begun: number): Promise<Entry> {
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
  entrance?: FastPathEntry,
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

/**
 * Taking the last place of several lines in one transaction, as `protected-create.ts` does with one: after a lost reply
 * one of the znodes tells what became of all of them.
 */

// Every attempt learns of parents that are missing; more than this means that somebody removes them as fast.
const MOST_ATTEMPTS = 64;

/** One entry a directory. Rejects with `signal.reason` instead of making a second attempt. */
export async function enterLines(
  session: Session,
  directories: readonly LockDirectory[],
  { label, signal }: Pick<LockRequest, 'label' | 'signal'>,
): Promise<readonly Entry[]> {
  for (;;) {
    if (!session.isConnected || signal.aborted) await session.whenConnected(signal);
    const begun = now();
    const name = `_c_${contenderNameId()}-${markOf('lock')}`;
    // Nobody passes those who are held back.
    directories.forEach(({ path }) => entryDelayAt(session, path, 'lock')?.end());
    const created = createAll(session, directories, name, label);
    const listed = directories.map(({ path }) => session.requests.children(path).catch(() => undefined));
    const found = await created.catch((error: unknown) => findSetAgain(session, directories, name, error));
    if (!found) continue;
    const contenders = found.map((node) => new Contender(session, node));
    return Promise.all(contenders.map((contender, place) => entryOf(contender, at(listed, place), begun)));
  }
}

/** What belongs to one of the directories. */
export function at<T>(ofEach: readonly T[], place: number): T {
  const one = ofEach[place];
  if (one === undefined) throw new RangeError(`nothing for the directory ${place}`);
  return one;
}

/** @throws KeeperError; a connection loss leaves it open whether they are there */
async function createAll(
  { requests }: Session,
  directories: readonly LockDirectory[],
  name: string,
  label?: string,
): Promise<CreatedNode[]> {
  const data = contenderData(label);
  const flags = CreateMode.ephemeralSequential;
  const creates = directories.map(({ path, acl }): MultiOp => ({
    type: 'create',
    path: `${path}/${name}`,
    data,
    acl,
    flags,
  }));
  let parents: readonly MultiOp[] = [];
  for (let attempt = 0; attempt < MOST_ATTEMPTS; attempt++) {
    const { results, zxid } = await requests.multi([...parents, ...creates]);
    const failed = refusedAt(results);
    if (failed < 0) return results.slice(parents.length).map(({ path = '' }) => ({ path, czxid: zxid }));
    const { error = ErrorCode.runtimeInconsistency } = results[failed] ?? {};
    const isOfParents = error === ErrorCode.noNode || (error === ErrorCode.nodeExists && failed < parents.length);
    if (!isOfParents) throw new KeeperError(error, parents[failed]?.path ?? directories[failed - parents.length]?.path);
    parents = await parentOps(requests, directories);
  }
  throw new KeeperError(ErrorCode.noNode, directories[0]?.path);
}

async function parentOps(
  requests: Session['requests'],
  directories: readonly LockDirectory[],
): Promise<readonly MultiOp[]> {
  const [directory] = directories;
  if (!directory) return [];
  // Below the directory itself: that is a parent, too.
  const paths = directories.map(({ path }) => `${path}/x`);
  return (await missingParents(requests, paths)).map((path) => parentOp(path, directory));
}

/** After a lost reply: the znodes, if the transaction was applied. */
async function findSetAgain(
  session: Session,
  directories: readonly LockDirectory[],
  name: string,
  error: unknown,
): Promise<CreatedNode[] | undefined> {
  if (!isConnectionLoss(error)) throw error;
  // Not cut short by the caller's signal: whoever gave up still has to know whether there are znodes to delete.
  return session.surely(async () => {
    await session.requests.sync(directories[0]?.path ?? '/');
    const found = await Promise.all(directories.map((directory) => findIn(session, directory, name)));
    const nodes = found.filter((node) => node !== undefined);
    if (nodes.length === directories.length) return nodes;
    // Some alone: the others were deleted from outside, and these are of no use.
    await Promise.all(nodes.map((node) => new Contender(session, node).leave(0)));
    return undefined;
  });
}

async function findIn(session: Session, directory: LockDirectory, name: string): Promise<CreatedNode | undefined> {
  const [found] = await findByName(session, directory, name).catch((error: unknown) => {
    if (isKeeperError(error, 'noNode')) return [];
    throw error;
  });
  return found;
}

/** The znodes in a directory whose names begin so. @throws KeeperError `noNode` when there is no directory */
async function findByName(session: Session, directory: LockDirectory, prefix: string): Promise<readonly CreatedNode[]> {
  const names = await session.requests.children(directory.path);
  const found = names.filter((name) => name.startsWith(prefix));
  const nodes = found.map((name) => unlessMissing(findAt(session, `${directory.path}/${name}`), undefined));
  return (await Promise.all(nodes)).filter((node) => node !== undefined);
}

/** @throws KeeperError `noNode` */
async function findAt(session: Session, path: string): Promise<CreatedNode> {
  const { stat } = await session.requests.read(path);
  return { path, czxid: stat.czxid };
}
