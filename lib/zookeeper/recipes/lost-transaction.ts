/**
 * Proof that a transaction whose reply was lost was not applied.
 *
 * Versions restart when a znode is deleted and created again, so a version alone proves nothing. Zxids never restart.
 * If the transaction was applied, its zxid is larger than all that the servers had named before it was sent. A znode
 * that still shows a smaller one was not changed by it. One operation that was certainly not done is enough, because a
 * transaction is applied as a whole.
 */
import type { MultiOp, Requests, Stat } from '../session/requests.js';
import { isConnectionLoss, isKeeperError } from '../session/requests.js';
import { unlessMissing } from '../session/watch.js';
import { withAncestors } from './znode-path.js';

type Asked = Pick<Requests, 'read'>;

/** A transaction that is being sent, or was sent. */
export interface SentTransaction {
  readonly ops: readonly MultiOp[];
  /** The largest zxid that the servers had named before the transaction was sent. */
  readonly sentAfter: bigint;
}

interface Znode {
  readonly data: Buffer;
  readonly stat: Stat;
}

/**
 * Whether the transaction was certainly not applied. Requires a `sync` before. `false`: it may have been applied.
 * @throws KeeperError
 */
export async function wasNotApplied(requests: Asked, { ops, sentAfter }: SentTransaction): Promise<boolean> {
  const answers = await Promise.all(ops.map((op) => wasNotDone(requests, op, sentAfter)));
  return answers.includes(true);
}

async function wasNotDone(requests: Asked, op: MultiOp, sentAfter: bigint): Promise<boolean> {
  const znode = await unlessMissing(requests.read(op.path), undefined);
  if (!znode) return hasLongBeenMissing(requests, op.path, sentAfter);
  // A znode that was created since says nothing about one that may have existed before it.
  return znode.stat.czxid <= sentAfter && isAsWithout(op, znode, sentAfter);
}

/** Whether a znode that existed before the transaction, and still does, can only be as it is without the operation. */
function isAsWithout(op: MultiOp, { data, stat }: Znode, sentAfter: bigint): boolean {
  const { version, mzxid } = stat;
  const isUntouched = mzxid <= sentAfter;
  switch (op.type) {
    case 'setData':
      return isUntouched || (op.version !== undefined && wasWrittenByOthers(op.version, op.data, version, data));
    case 'check':
      return op.version !== undefined && (version < op.version || (isUntouched && version !== op.version));
    default:
      // It existed, so it was not created. It still exists, so it was not deleted.
      return true;
  }
}

/** Whether the version is not beyond the one that the operation asked for, or the next version has other data. */
function wasWrittenByOthers(asked: number, own: Buffer, version: number, data: Buffer): boolean {
  return version <= asked || (version === asked + 1 && !data.equals(own));
}

/** Whether the nearest existing ancestor has had no child created or deleted since before the transaction. */
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
