/**
 * Protected create: the znode's name has a unique id. When the connection is lost before the reply, the znode is found
 * again if the create was applied. It is never created twice.
 * The children are listed right behind the create, on the same connection. The list shows all earlier contenders and
 * costs no round trip. It is left out in two cases:
 * - The directory is created with the contender: nothing else is in it, see `key-directories.ts`.
 * - The sequence number is to show that there were no others, see `sequence-fast-path.ts`.
 * Source: Curator's "protected" creates.
 */
import { randomUUID } from 'node:crypto';
import { now } from '../../async/clock.js';
import type { LockRequest } from '../../contract/lock-request.js';
import { CreateMode, isConnectionLoss, isKeeperError } from '../session/requests.js';
import type { CreatedNode } from '../session/requests.js';
import type { Session } from '../session/session.js';
import { unlessMissing } from '../session/watch.js';
import { contenderData, CONTENDER_MARKS, contenderNameId } from './contender-znode.js';
import type { ContenderKind } from './contender-znode.js';
import { Contender } from './contender.js';
import { createBelow, createFirst, createNodes } from './create-node.js';
import type { NewNode } from './create-node.js';
import { keyDirectoriesOf } from './key-directories.js';
import type { LockDirectory } from './lock-directory.js';
import type { FastPathEntry } from './shortcuts/sequence-fast-path.js';
import { createBatchingAt } from './wait-queue-view.js';

/** A contender that was just created. Its queue has seen the children, if the same round trip showed them. */
export interface Entry {
  readonly contender: Contender;
  /**
   * Set for a contender that was created alone and excludes all others. The number of the next one may show that the
   * next one is alone.
   */
  readonly fastPath?: FastPathEntry | undefined;
  /** The duration of the create in milliseconds: the time that a reply of the servers takes. */
  readonly tookMs: number;
}

/** The caller of an acquisition: the data of its znode, and the signal of its giving up. */
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
  /** Whether it is a contender for a lock, whose directory may be created with it and removed after it. */
  readonly mayMakeDirectory?: boolean;
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
    const name = `_c_${id}-${CONTENDER_MARKS[kind]}`;
    const node = { name, mode: CreateMode.ephemeralSequential, data };
    const find = () => findByName(session, directory, name);
    return { nodes: [node], find, before: before && (() => before(id)), mayMakeDirectory: kind !== 'latch' };
  };
  const { path, createDelayMs = 0 } = directory;
  const delay = createBatchingAt(session, path, kind);
  if (wait && createDelayMs > 0 && delay?.isWorthIt) {
    const send = () => enterOne(session, directory, signal, nextAttempt, fastPath);
    return delay.hold(createDelayMs, [signal, session.signal], send);
  }
  // This create must not pass those that are held back.
  delay?.end();
  return enterOne(session, directory, signal, nextAttempt, fastPath);
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
  const isAlone = fastPath?.entered(contender.parsed?.number ?? NaN) ?? false;
  const names = isAlone ? [contender.name] : await listed;
  const tookMs = now() - begun;
  if (!names?.includes(contender.name)) return { contender, tookMs };
  contender.queue.saw(names);
  return { contender, tookMs, fastPath: fastPath && contender.queue.isOfOne ? fastPath : undefined };
}

type Listed = Promise<readonly string[] | undefined> | readonly string[] | undefined;

/** The created contenders, and the list that was requested right behind the create. */
interface Made {
  readonly contenders: readonly Contender[];
  readonly listed: Listed;
  readonly begun: number;
}

/** The created znodes, and the list that was requested right behind the create. */
interface CreatedAndListed {
  readonly nodes: readonly CreatedNode[];
  readonly listed: Listed;
}

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
    const attempt = nextAttempt();
    if (attempt.before) await attempt.before();
    const [node] = attempt.nodes;
    const created =
      attempt.mayMakeDirectory && node && keyDirectoriesOf(session).mayBeNew(directory.path)
        ? createInNew(session, directory, node)
        : withList(session, directory, createNodes(session.requests, directory, attempt.nodes), fastPath?.needsNoList);
    const { nodes, listed } = await created.catch(async (error: unknown) => ({
      nodes: await findAgain(session, directory, attempt.find, error),
      listed: undefined,
    }));
    const contenders = nodes.map((node) => new Contender(session, node));
    if (nodes.length === attempt.nodes.length) return { contenders, listed, begun };
    // Only some exist: the others were deleted externally, so these are useless.
    await Promise.all(contenders.map((contender) => contender.leave(0)));
  }
}

/** Creates the znode with its directory. Where there is a directory already, the znode is created in it. */
async function createInNew(session: Session, directory: LockDirectory, node: NewNode): Promise<CreatedAndListed> {
  const directories = keyDirectoriesOf(session);
  try {
    const first = await createFirst(session.requests, directory, node);
    directories.guessed(true);
    noteMade(session, directory);
    return { nodes: [first], listed: [first.path.slice(directory.path.length + 1)] };
  } catch (error) {
    const isThere = isKeeperError(error, 'nodeExists');
    if (!isThere && !isKeeperError(error, 'noNode')) throw error;
    directories.guessed(!isThere);
    const create = isThere ? createNodes(session.requests, directory, [node]) : createDeep(session, directory, node);
    return withList(session, directory, create);
  }
}

async function createDeep(session: Session, directory: LockDirectory, node: NewNode): Promise<readonly CreatedNode[]> {
  const created = await createBelow(session.requests, directory, node);
  noteMade(session, directory);
  return [created];
}

function noteMade(session: Session, { path, parents }: LockDirectory): void {
  if (parents === 'container') keyDirectoriesOf(session).made(path);
}

async function withList(
  { requests }: Session,
  { path }: LockDirectory,
  created: Promise<readonly CreatedNode[]>,
  needsNoList = false,
): Promise<CreatedAndListed> {
  const listed = needsNoList ? undefined : requests.children(path).catch(() => undefined);
  return { nodes: await created, listed };
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
  return unlessMissing(search, []);
}

/**
 * The znodes in a directory whose names begin with `prefix`. @throws KeeperError `noNode` when there is no directory
 */
export async function findByName(
  session: Session,
  directory: LockDirectory,
  prefix: string,
): Promise<readonly CreatedNode[]> {
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
