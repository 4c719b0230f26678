/**
 * Entering with a znode that can be told from all others: when the connection is lost before the reply, the znode is
 * found again if the create was applied, and is never made twice. The list of contenders is asked for right behind the
 * create on the same connection, so it shows all who were before, and costs no round trip.
 * Source: Curator's "protected" creates.
 */
import { randomUUID } from 'node:crypto';
import { now } from '../../async/clock.js';
import type { LockRequest } from '../../contract/lock-request.js';
import { CreateMode, isConnectionLoss, isKeeperError } from '../session/requests.js';
import type { CreatedNode } from '../session/requests.js';
import type { Session } from '../session/session.js';
import { contenderData, contenderId } from './contender-data.js';
import { Contender } from './contender.js';
import { createNode } from './create-node.js';
import type { NewNode } from './create-node.js';
import type { LockDirectory } from './lock-directory.js';
import type { Line } from './line.js';
import { contenderNameId, markOf, SINGLE_NODE } from './standing.js';
import type { ContenderKind } from './standing.js';

/** A contender that has just entered, and who was there then, if that was learned in the same round trip. */
export interface Entry {
  readonly contender: Contender;
  readonly line: Line;
  readonly names: readonly string[] | undefined;
  /** How long it took to come in, in milliseconds: what an answer of the servers takes. */
  readonly tookMs: number;
}

/** Who enters: what its znode says, and when it has given up. */
interface Entrant extends Pick<LockRequest, 'label' | 'signal' | 'keeps'> {
  /** What the znode is to say instead of who made it. */
  readonly data?: Buffer;
  /** Done before the znode with this id in its name is made, each time that it is attempted. */
  readonly before?: (id: string) => Promise<void>;
}

/** A znode to be made, and how to look for it when it is not known whether it was. */
interface Attempt {
  readonly node: NewNode;
  readonly find: () => Promise<CreatedNode | undefined>;
  readonly before?: (() => Promise<void>) | undefined;
}

/** Takes a place at the end of the line. Rejects with `signal.reason` instead of making a second attempt. */
export function enterLine(
  session: Session,
  directory: LockDirectory,
  kind: ContenderKind,
  { label, signal, keeps, data = contenderData(label), before }: Entrant,
): Promise<Entry> {
  return enter(session, directory, signal, () => {
    const id = contenderNameId(keeps);
    const name = `_c_${id}-${markOf(kind)}`;
    const node = { name, mode: CreateMode.ephemeralSequential, data };
    return { node, find: () => findByName(session, directory, name), before: before && (() => before(id)) };
  });
}

/** Takes the single znode. @throws KeeperError `nodeExists` when somebody else has it; `signal.reason`, as above */
export function enterAlone(session: Session, directory: LockDirectory, { label, signal }: Entrant): Promise<Entry> {
  return enter(session, directory, signal, () => {
    const id = randomUUID();
    const node = { name: SINGLE_NODE, mode: CreateMode.ephemeral, data: contenderData(label, id) };
    return { node, find: () => findById(session, `${directory.path}/${SINGLE_NODE}`, id) };
  });
}

async function enter(
  session: Session,
  directory: LockDirectory,
  signal: AbortSignal,
  nextAttempt: () => Attempt,
): Promise<Entry> {
  for (;;) {
    if (!session.isConnected || signal.aborted) await session.whenConnected(signal);
    const begun = now();
    const { node, find, before } = nextAttempt();
    if (before) await before();
    const created = createNode(session.requests, directory, node);
    const listed = session.requests.children(directory.path).catch(() => undefined);
    const found = await created.catch((error: unknown) => findAgain(session, directory, find, error));
    if (!found) continue;
    const contender = new Contender(session, found);
    const { line } = contender;
    const names = await listed;
    const tookMs = now() - begun;
    if (!names?.includes(contender.name)) return { contender, line, tookMs, names: undefined };
    line.saw(names);
    return { contender, line, tookMs, names };
  }
}

/** After a lost reply: the znode, if the create was applied. What an earlier session made is never taken for it. */
async function findAgain(
  session: Session,
  directory: LockDirectory,
  find: () => Promise<CreatedNode | undefined>,
  error: unknown,
): Promise<CreatedNode | undefined> {
  if (!isConnectionLoss(error)) throw error;
  // Not cut short by the caller's signal: whoever gave up still has to know whether there is a znode to delete.
  const search = session.surely(async () => {
    // The server now connected may not have heard of the create yet; after a sync it has, or never will.
    await session.requests.sync(directory.path);
    return find();
  });
  return search.catch((failure: unknown) => {
    if (isKeeperError(failure, 'noNode')) return undefined;
    throw failure;
  });
}

async function findByName(
  session: Session,
  directory: LockDirectory,
  prefix: string,
): Promise<CreatedNode | undefined> {
  const names = await session.requests.children(directory.path);
  const name = names.find((other) => other.startsWith(prefix));
  if (name === undefined) return undefined;
  const path = `${directory.path}/${name}`;
  const { stat } = await session.requests.read(path);
  return { path, czxid: stat.czxid };
}

async function findById(session: Session, path: string, id: string): Promise<CreatedNode | undefined> {
  const { data, stat } = await session.requests.read(path);
  return contenderId(data) === id ? { path, czxid: stat.czxid } : undefined;
}
