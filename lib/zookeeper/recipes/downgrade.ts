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
import type { MultiOp } from '../session/requests.js';
import type { Session } from '../session/session.js';
import type { Contender } from './contender.js';
import { contenderData } from './contender-data.js';
import type { LockDirectory } from './lock-directory.js';
import { refusedAt } from './refusal.js';
import { readerInPlaceOf } from './standing.js';

/** Resolves when it has, or it is known that it can not. Goes on through disconnections; never rejects. */
export function becomeReader(
  session: Session,
  directory: LockDirectory,
  writer: Contender,
  label?: string,
): Promise<void> {
  return writer.exchangeFor(() => exchange(session, directory, writer.path, readerInPlaceOf(writer.name), label));
}

/** The path of the reader's znode. @throws KeeperError why there is none */
async function exchange(
  session: Session,
  directory: LockDirectory,
  writerPath: string,
  readerName: string,
  label?: string,
): Promise<string> {
  const path = `${directory.path}/${readerName}`;
  const create = { path, data: contenderData(label), acl: directory.acl, flags: CreateMode.ephemeral };
  const ops: MultiOp[] = [
    { type: 'create', ...create },
    { type: 'delete', path: writerPath },
  ];
  return session.surely(async () => {
    const { results } = await session.requests.multi(ops);
    const { error } = results[refusedAt(results)] ?? {};
    // Nobody else makes a znode of this name: an attempt whose reply was lost has done it.
    if (error === undefined || error === ErrorCode.nodeExists) return path;
    throw new KeeperError(error, writerPath);
  });
}
