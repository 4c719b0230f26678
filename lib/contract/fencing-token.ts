/**
 * A fencing token is the number of a backend's grant, with the number of the hand-over below it: how often the grant has
 * gone from one caller of a process to the next. So it grows with every holder, also with those whom the backend does
 * not see, and with ZooKeeper's zxids it fits into 63 bits until the ensemble has elected 32,767 leaders.
 */
const HAND_OVER_BITS = 16n;

/** After so many hand-overs a grant is given back and another one asked for. */
export const MOST_HAND_OVERS = 2 ** Number(HAND_OVER_BITS) - 1;

/** @param grant grows with every grant of a key */
export function fencingTokenOf(grant: bigint): bigint {
  return grant << HAND_OVER_BITS;
}

/** @param token the grant's own; @param handOver from 0 to `MOST_HAND_OVERS` */
export function handedOver(token: bigint, handOver: number): bigint {
  return handOver === 0 ? token : token + BigInt(handOver);
}
