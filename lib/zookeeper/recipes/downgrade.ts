/**
 * Downgrade: a writer becomes a reader without leaving its place in the wait queue.
 * Znodes: `<path>/_c_<uuid>-__READ__<number of the writer's>`, ephemeral and not sequential. It is created in the
 * transaction that deletes the writer's znode, so there is no moment without either.
 * Waiting: readers behind it need not wait any more. Writers behind it wait for the reader, because its number is
 * smaller than theirs.
 * Fencing token: the reader's znode is younger than theirs, so its czxid is larger than their tokens. The lease
 * therefore keeps the writer's token.
 * Session loss: the servers remove the znode, like those of other contenders.
 * Source: Curator's InterProcessReadWriteLock since 5.5 (CURATOR-621).
 */
import { CreateMode, ErrorCode, KeeperError, refusedAt } from '../session/requests.js';
import type { CreatedNode, MultiOp } from '../session/requests.js';
import type { Session } from '../session/session.js';
import type { Contender } from './contender.js';
import { contenderData, readerInPlaceOf } from './contender-znode.js';
import type { LockDirectory } from './lock-directory.js';

/**
 * Resolves when the writer has become a reader, or when it is known that it cannot. Retries through disconnections.
 * Never rejects.
 */
export function becomeReader(
  session: Session,
  directory: LockDirectory,
  writer: Contender,
  label?: string,
): Promise<void> {
  return writer.exchangeFor(() => exchange(session, directory, writer.path, readerInPlaceOf(writer.name), label));
}

/** Replaces the writer's znode by the reader's, and returns that. @throws KeeperError that says why there is none */
async function exchange(
  session: Session,
  directory: LockDirectory,
  writerPath: string,
  readerName: string,
  label?: string,
): Promise<CreatedNode> {
  const path = `${directory.path}/${readerName}`;
  const create = { path, data: contenderData(label), acl: directory.acl, flags: CreateMode.ephemeral };
  const ops: MultiOp[] = [
    { type: 'create', ...create },
    { type: 'delete', path: writerPath },
  ];
  return session.surely(async () => {
    const { results, zxid } = await session.requests.multi(ops);
    const { error } = results[refusedAt(results)] ?? {};
    if (error === undefined) return { path, czxid: zxid };
    if (error !== ErrorCode.nodeExists) throw new KeeperError(error, writerPath);
    // No other client creates a znode of this name. So an earlier attempt, whose reply was lost, has created it.
    await session.requests.sync(path);
    const { stat } = await session.requests.read(path);
    return { path, czxid: stat.czxid };
  });
}
