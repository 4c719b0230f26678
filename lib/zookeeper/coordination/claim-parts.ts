import { LockLostError } from '../../contract/errors.js';
import { GrantedLease } from '../../contract/granted-lease.js';
import type { TakenItem } from '../../contract/queues.js';

/**
 * The values of one item, each to be settled by itself: the item is removed with the last of them, and comes again whole
 * when one was given back. Curator's `putMulti` writes such items.
 */
export function partsOf(whole: TakenItem, payloads: readonly Buffer[]): readonly TakenItem[] {
  let unsettled = payloads.length;
  let isWhole = true;
  const settle = async (isAcked: boolean): Promise<void> => {
    unsettled--;
    isWhole &&= isAcked;
    if (unsettled === 0) await (isWhole ? whole.ack() : whole.lease.release());
  };
  return payloads.map((payload, index) => partOf(whole, payload, `${whole.id}/${index}`, settle));
}

function partOf(
  { lease: whole }: TakenItem,
  payload: Buffer,
  id: string,
  settle: (isAcked: boolean) => Promise<void>,
): TakenItem {
  let isAcked = false;
  const { key, mode, fencingToken } = whole;
  const lease = new GrantedLease({
    key,
    mode,
    fencingToken,
    isCurrent: () => whole.isHeld(),
    giveBack: async () => {
      whole.removeFollower(lease);
      if (!isAcked) await settle(false);
    },
  });
  whole.addFollower(lease);
  const ack = async (): Promise<void> => {
    if (!lease.isHeld()) throw new LockLostError(key, 'the item may have been delivered to somebody else');
    isAcked = true;
    void lease.release();
    await settle(true);
  };
  return { id, payload, lease, ack };
}
