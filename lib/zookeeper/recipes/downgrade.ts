/**
 * A writer becomes a reader without leaving its place.
 * Znodes: `<path>/_c_<uuid>-__READ__<number of the writer's>`, ephemeral and not sequential, made in the transaction that
 * removes the writer's: there is no moment without either.
 * Who waits for whom: readers behind it need not wait any more; writers behind it wait for the reader, because its
 * number is before theirs. The znode is younger than they are: a token made of it would be larger than theirs, so the
 * lease keeps the writer's.
 * Session loss: the servers remove the znode, as any contender's.
 * Source: Curator's InterProcessReadWriteLock since 5.5 (CURATOR-621).
 */
import { CreateMode, ErrorCode, KeeperError } from '../session/requests.js';
import type { CreatedNode, MultiOp } from '../session/requests.js';
import type { Session } from '../session/session.js';
import type { Contender } from './contender.js';
import { contenderData } from './contender-data.js';
import type { LockDirectory } from './lock-directory.js';
import { refusedAt } from './create-node.js';
import { readerInPlaceOf } from './contender-name.js';

/** Resolves when it has, or it is known that it can not. Goes on through disconnections; never rejects. */
export function becomeReader(
  session: Session,
  directory: LockDirectory,
  writer: Contender,
  label?: string,
): Promise<void> {
  return writer.exchangeFor(() => exchange(session, directory, writer.path, readerInPlaceOf(writer.name), label));
}

/** The reader's znode. @throws KeeperError why there is none */
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
    // Nobody else makes a znode of this name: an attempt whose reply was lost has done it.
    await session.requests.sync(path);
    const { stat } = await session.requests.read(path);
    return { path, czxid: stat.czxid };
  });
}
