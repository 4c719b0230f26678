import { createHmac, randomBytes } from 'node:crypto';

const PASSWORD_BYTES = 16;

/** Session ids that no other start of a server has used, and the passwords that belong to them. */
export class SessionIds {
  readonly #secret = randomBytes(PASSWORD_BYTES);
  #next: bigint;

  constructor(startedAt: number) {
    // As in ZooKeeper: the number of the server in the top byte, 40 bits of the time in milliseconds, then a count.
    this.#next = (1n << 56n) | ((BigInt(Math.floor(startedAt)) << 16n) & 0xff_ffff_ffff_0000n);
  }

  next(): bigint {
    this.#next += 1n;
    return this.#next;
  }

  passwordOf(id: bigint): Buffer {
    return createHmac('sha256', this.#secret).update(String(id)).digest().subarray(0, PASSWORD_BYTES);
  }
}
