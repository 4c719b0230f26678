/** How a session finds the znodes again that it has made, when it does not know whether it has. */
import type { CreatedNode } from '../session/requests.js';
import type { Session } from '../session/session.js';
import { unlessMissing } from '../session/watch.js';
import type { LockDirectory } from './lock-directory.js';

/** The znodes in a directory whose names begin so. @throws KeeperError `noNode` when there is no directory */
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
export async function findAt(session: Session, path: string): Promise<CreatedNode> {
  const { stat } = await session.requests.read(path);
  return { path, czxid: stat.czxid };
}
