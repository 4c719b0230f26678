/**
 * A fencing token has two parts. The high bits are the number of the backend's grant. The low bits count the hand-overs
 * of this grant from one caller of a process to the next. So the token grows with every holder, including holders that
 * the backend does not see. With ZooKeeper's zxids it fits into 63 bits until the ensemble has elected 32,767 leaders.
 */
const HAND_OVER_BITS = 16n;

/** The maximum number of hand-overs. After them, the grant is released and another one is requested. */
export const MOST_HAND_OVERS = 2 ** Number(HAND_OVER_BITS) - 1;

/** @param grant number that grows with every grant of a key */
export function fencingTokenOf(grant: bigint): bigint {
  return grant << HAND_OVER_BITS;
}

/** @param token token of the grant @param handOver from 0 to `MOST_HAND_OVERS` */
export function handedOver(token: bigint, handOver: number): bigint {
  return handOver === 0 ? token : token + BigInt(handOver);
}
