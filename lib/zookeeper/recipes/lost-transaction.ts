/**
 * Whether a transaction whose reply was lost was surely not applied.
 *
 * Versions begin again when a znode is removed and made anew, so a version alone proves nothing. Zxids never begin again:
 * the transaction, if it was applied, has a larger zxid than every one that the servers had named before it was sent. What
 * still shows a smaller one was not touched by it. One operation that was surely not done is enough, because a transaction
 * is applied as a whole.
 */
import type { MultiOp, Requests, Stat } from '../session/requests.js';
import { isConnectionLoss, isKeeperError } from '../session/requests.js';
import { unlessMissing } from '../session/watch.js';
import { withAncestors } from '../session/znode-path.js';

type Asked = Pick<Requests, 'read'>;

/** A transaction that is sent, or was. */
export interface SentTransaction {
  readonly ops: readonly MultiOp[];
  /** The largest zxid that the servers had named before. */
  readonly sentAfter: bigint;
}

interface Znode {
  readonly data: Buffer;
  readonly stat: Stat;
}

/** To be asked behind a `sync`. `false`: it may have been applied. @throws KeeperError */
export async function wasNotApplied(requests: Asked, { ops, sentAfter }: SentTransaction): Promise<boolean> {
  const answers = await Promise.all(ops.map((op) => wasNotDone(requests, op, sentAfter)));
  return answers.includes(true);
}

async function wasNotDone(requests: Asked, op: MultiOp, sentAfter: bigint): Promise<boolean> {
  const znode = await unlessMissing(requests.read(op.path), undefined);
  if (!znode) return hasLongBeenMissing(requests, op.path, sentAfter);
  // A znode that was made since says nothing of the one that may have been there before it.
  return znode.stat.czxid <= sentAfter && isAsWithout(op, znode, sentAfter);
}

/** Whether a znode that was there before the transaction, and still is, is as it can only be without the operation. */
function isAsWithout(op: MultiOp, { data, stat }: Znode, sentAfter: bigint): boolean {
  const { version, mzxid } = stat;
  const isUntouched = mzxid <= sentAfter;
  switch (op.type) {
    case 'setData':
      return isUntouched || (op.version !== undefined && wasWrittenByOthers(op.version, op.data, version, data));
    case 'check':
      return op.version !== undefined && (version < op.version || (isUntouched && version !== op.version));
    default:
      // It was there, so it was not made; it is there, so it was not deleted.
      return true;
  }
}

/** Whether the version that the operation asked for has not come yet, or another write has followed it. */
function wasWrittenByOthers(asked: number, own: Buffer, version: number, data: Buffer): boolean {
  return version <= asked || (version === asked + 1 && !data.equals(own));
}

/** Whether nothing has come or gone, since before the transaction, in the nearest znode above that is there. */
async function hasLongBeenMissing(requests: Asked, path: string, sentAfter: bigint): Promise<boolean> {
  for (const above of [...withAncestors(path).slice(1), '/']) {
    const znode = await requests.read(above).catch(missingOrHidden);
    if (znode === 'hidden') return false;
    if (znode) return znode.stat.pzxid <= sentAfter;
  }
  return false;
}

function missingOrHidden(error: unknown): undefined | 'hidden' {
  if (isKeeperError(error, 'noNode')) return undefined;
  if (isConnectionLoss(error)) throw error;
  return 'hidden';
}
