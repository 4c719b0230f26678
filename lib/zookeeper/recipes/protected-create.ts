/**
 * Protected create: the znode's name has a unique id. When the connection is lost before the reply, the znode is found
 * again if the create was applied. It is never created twice.
 * The children are listed right behind the create, on the same connection. The list shows all earlier contenders and
 * costs no round trip. It is left out where the sequence number is to show that there were none, see
 * `sequence-fast-path.ts`.
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
import { createBatchingAt } from './wait-queue-view.js';
import type { WaitQueueView } from './wait-queue-view.js';

/** A contender that was just created, and the children at that time, if the same round trip showed them. */
export interface Entry {
  readonly contender: Contender;
  readonly queue: WaitQueueView;
  readonly names: readonly string[] | undefined;
  /**
   * Set for a contender that was created alone and excludes all others. The number of the next one may show that the
   * next one is alone.
   */
  readonly fastPath?: FastPathEntry | undefined;
  /** The duration of the create in milliseconds: the time that a reply of the servers takes. */
  readonly tookMs: number;
}

/** The caller of an acquisition: the data of its znode, and when it has given up. */
interface Entrant extends Pick<LockRequest, 'label' | 'signal' | 'keeps'>, Partial<Pick<LockRequest, 'wait'>> {
  /** The data of the znode, instead of a description of the caller. */
  readonly data?: Buffer;
  /** Called before each attempt to create the znode, with the id in its name. */
  readonly before?: (id: string) => Promise<void>;
}

/** Contenders that were created together, and the children at that time, if the same round trip showed them. */
interface GroupEntry {
  readonly contenders: readonly Contender[];
  readonly names: readonly string[] | undefined;
}

/** The znodes to create, and how to find them when it is not known whether they were created. */
interface Attempt {
  readonly nodes: readonly NewNode[];
  readonly find: () => Promise<readonly CreatedNode[]>;
  readonly before?: (() => Promise<void>) | undefined;
}

/**
 * Creates a contender at the end of the wait queue. Rejects with `signal.reason` instead of making a second attempt.
 * @param fastPath for a contender that excludes all others
 */
export function enterQueue(
  session: Session,
  directory: LockDirectory,
  kind: ContenderKind,
  { label, wait = false, signal, keeps, data = contenderData(label), before }: Entrant,
  fastPath?: FastPathEntry,
): Promise<Entry> {
  const nextAttempt = (): Attempt => {
    const id = contenderNameId(keeps);
    const name = `_c_${id}-${markOf(kind)}`;
    const node = { name, mode: CreateMode.ephemeralSequential, data };
    return { nodes: [node], find: () => findByName(session, directory, name), before: before && (() => before(id)) };
  };
  const send = () => enterOne(session, directory, signal, nextAttempt, fastPath);
  const { path, createDelayMs = 0 } = directory;
  const delay = createBatchingAt(session, path, kind);
  if (wait && createDelayMs > 0 && delay?.isWorthIt) return delay.hold(createDelayMs, [signal, session.signal], send);
  // This create must not pass those that are held back.
  delay?.end();
  return send();
}

/** Creates `count` znodes, all of them or none. Their data has the `id`. Rejects as `enterQueue` does. */
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

/** Creates a contender whose name is an id and nothing else. Rejects as `enterQueue` does. */
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
  fastPath?: FastPathEntry,
): Promise<Entry> {
  const { contenders, listed, begun } = await enter(session, directory, signal, nextAttempt, fastPath);
  const [contender] = contenders as readonly [Contender];
  const isAlone = fastPath?.entered(numberOf(contender.name) ?? NaN) ?? false;
  const entry = await entryOf(contender, isAlone ? [contender.name] : listed, begun);
  const { names } = entry;
  return fastPath && names && !hasOthers(contender.name, names) ? { ...entry, fastPath } : entry;
}

type Listed = Promise<readonly string[] | undefined> | readonly string[];

/** @param listed the list that was requested right behind the create */
async function entryOf(contender: Contender, listed: Listed, begun: number): Promise<Entry> {
  const { queue } = contender;
  const names = await listed;
  const tookMs = now() - begun;
  if (!names?.includes(contender.name)) return { contender, queue, tookMs, names: undefined };
  queue.saw(names);
  return { contender, queue, tookMs, names };
}

/** The created contenders, and the list that was requested right behind the create. */
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
  fastPath?: FastPathEntry,
): Promise<Made> {
  for (;;) {
    if (!session.isConnected || signal.aborted) await session.whenConnected(signal);
    const begun = now();
    const { nodes, find, before } = nextAttempt();
    if (before) await before();
    const created = createNodes(session.requests, directory, nodes);
    const listed = fastPath?.needsNoList ? NOT_ASKED : session.requests.children(directory.path).catch(() => undefined);
    const found = await created.catch((error: unknown) => findAgain(session, directory, find, error));
    const contenders = found.map((node) => new Contender(session, node));
    if (found.length === nodes.length) return { contenders, listed, begun };
    // Only some exist: the others were deleted externally, so these are useless.
    await Promise.all(contenders.map((contender) => contender.leave(0)));
  }
}

/**
 * The znodes after a lost reply, if the create was applied. A znode of an earlier session is never taken for one of
 * them.
 */
async function findAgain(
  session: Session,
  directory: LockDirectory,
  find: () => Promise<readonly CreatedNode[]>,
  error: unknown,
): Promise<readonly CreatedNode[]> {
  if (!isConnectionLoss(error)) throw error;
  // Not aborted by the caller's signal: even then it must be known whether there is a znode to delete.
  const search = session.surely(async () => {
    // The connected server may not have applied the create yet. After a sync it has, or never will.
    await session.requests.sync(directory.path);
    return find();
  });
  return search.catch((failure: unknown) => {
    if (isKeeperError(failure, 'noNode')) return [];
    throw failure;
  });
}

// Every attempt finds missing parents. More attempts than this mean that another client removes them as fast.
const MOST_ATTEMPTS = 64;

/**
 * Creates one contender per directory, all in one transaction. After a lost reply one of the znodes shows the outcome for
 * all. Rejects with `signal.reason` instead of making a second attempt.
 */
export async function enterQueues(
  session: Session,
  directories: readonly LockDirectory[],
  { label, signal }: Pick<LockRequest, 'label' | 'signal'>,
): Promise<readonly Entry[]> {
  for (;;) {
    if (!session.isConnected || signal.aborted) await session.whenConnected(signal);
    const begun = now();
    const name = `_c_${contenderNameId()}-${markOf('lock')}`;
    // This create must not pass those that are held back.
    directories.forEach(({ path }) => createBatchingAt(session, path, 'lock')?.end());
    const created = createAll(session, directories, name, label);
    const listed = directories.map(({ path }) => session.requests.children(path).catch(() => undefined));
    const found = await created.catch((error: unknown) => findSetAgain(session, directories, name, error));
    if (!found) continue;
    const contenders = found.map((node) => new Contender(session, node));
    return Promise.all(contenders.map((contender, place) => entryOf(contender, at(listed, place), begun)));
  }
}

/** The element that belongs to one of the directories. */
export function at<T>(ofEach: readonly T[], place: number): T {
  const one = ofEach[place];
  if (one === undefined) throw new RangeError(`nothing for the directory ${place}`);
  return one;
}

/** Creates the znodes in one transaction. @throws KeeperError; after a connection loss they may or may not exist */
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
  // A path below the directory, because the directory is a parent too.
  const paths = directories.map(({ path }) => `${path}/x`);
  return (await missingParents(requests, paths)).map((path) => parentOp(path, directory));
}

/** The znodes after a lost reply, if the transaction was applied. */
async function findSetAgain(
  session: Session,
  directories: readonly LockDirectory[],
  name: string,
  error: unknown,
): Promise<CreatedNode[] | undefined> {
  if (!isConnectionLoss(error)) throw error;
  // Not aborted by the caller's signal: even then it must be known whether there are znodes to delete.
  return session.surely(async () => {
    await session.requests.sync(directories[0]?.path ?? '/');
    const found = await Promise.all(directories.map((directory) => findIn(session, directory, name)));
    const nodes = found.filter((node) => node !== undefined);
    if (nodes.length === directories.length) return nodes;
    // Only some exist: the others were deleted externally, so these are useless.
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

/**
 * The znodes in a directory whose names begin with `prefix`. @throws KeeperError `noNode` when there is no directory
 */
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
