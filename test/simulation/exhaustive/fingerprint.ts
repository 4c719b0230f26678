const MANTISSA = 2 ** 21;

/** A hash of 53 bits over everything that was added, in this order. */
export class Fingerprint {
  #high: number;
  #low: number;

  constructor(seed = 0) {
    this.#high = 0xdeadbeef ^ seed;
    this.#low = 0x41c6ce57 ^ seed;
  }

  get value(): number {
    let high = Math.imul(this.#high ^ (this.#high >>> 16), 0x85ebca6b);
    high ^= Math.imul(this.#low ^ (this.#low >>> 13), 0xc2b2ae35);
    let low = Math.imul(this.#low ^ (this.#low >>> 16), 0x85ebca6b);
    low ^= Math.imul(this.#high ^ (this.#high >>> 13), 0xc2b2ae35);
    return (high >>> 0) + ((low >>> 0) % MANTISSA) * 2 ** 32;
  }

  /** Adds a number of 32 bits. */
  number(value: number): this {
    this.#high = Math.imul(this.#high ^ value, 0x9e3779b1);
    this.#low = Math.imul(this.#low ^ value, 0x5f356495);
    this.#high ^= this.#high >>> 15;
    this.#low ^= this.#low >>> 15;
    return this;
  }

  /** Adds a number of 53 bits. */
  long(value: number): this {
    return this.number(value | 0).number((value / 2 ** 32) | 0);
  }

  text(text: string): this {
    for (let at = 0; at < text.length; at++) this.number(text.charCodeAt(at));
    return this.number(-text.length);
  }

  bytes(bytes: Uint8Array): this {
    for (const byte of bytes) this.number(byte);
    return this.number(-bytes.length);
  }
}
