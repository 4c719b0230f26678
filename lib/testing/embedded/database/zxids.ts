import { wallNow } from '../sessions/real-time.js';

/** The time of zxid 0. A zxid that counts from 1970 needs more bits. */
const ORIGIN_MS = Date.UTC(2026, 0);

/**
 * A fencing token of 63 bits has room for a zxid of 47 bits (lib/contract/granted-lease.ts). 128 zxids a millisecond
 * use them up in the year 2060. A server with fewer than 128,000 transactions a second stays below the first zxid of
 * the next process. `npm run bench:embedded` reaches 110,000 with nothing else to do.
 */
const ZXIDS_PER_MS = 128n;

/**
 * The distance from one leader's zxids to the next's. Small, so that many elections do not run ahead of the time
 * either.
 */
const ELECTION = 1n << 10n;

/**
 * The largest zxid that any server of this process has used. The clock may be set back, or be slower than the servers.
 */
let highest = 0n;

/**
 * Returns the number that a new server counts on from. It is larger than all numbers of earlier servers, which left
 * nothing on a disk. Their clients notice that their sessions are over, and fencing tokens grow.
 */
export function firstZxid(wallMs: number = wallNow()): bigint {
  return given(later(zxidAt(wallMs), highest + 1n));
}

/** Returns the number of the next transaction. */
export function nextZxid(last: bigint): bigint {
  return given(last + 1n);
}

/** Returns the number that a new leader counts on from. */
export function zxidAfterElection(last: bigint, wallMs: number = wallNow()): bigint {
  return given(later(zxidAt(wallMs), last + ELECTION));
}

function zxidAt(wallMs: number): bigint {
  return BigInt(Math.floor(wallMs) - ORIGIN_MS) * ZXIDS_PER_MS;
}

function given(zxid: bigint): bigint {
  highest = later(zxid, highest);
  return zxid;
}

function later(one: bigint, other: bigint): bigint {
  return one > other ? one : other;
}
