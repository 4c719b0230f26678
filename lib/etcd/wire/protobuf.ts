/** The ways in which a field is encoded. */
const VARINT = 0;
const EIGHT_BYTES = 1;
const LENGTH_FIRST = 2;
const FOUR_BYTES = 5;

const SEVEN_BITS = 128;
const MOST_SAFE_BYTES = 7;
/** The most bytes of a number. */
const LONGEST_VARINT = 10;
/** Most requests are shorter. */
const FIRST_BYTES = 512;

/** Writes the fields of one message, and of those in it, one after the other. */
export class FieldWriter {
  #bytes = Buffer.allocUnsafe(FIRST_BYTES);
  #at = 0;

  /** The bytes that were written so far. */
  get written(): Buffer {
    return this.#bytes.subarray(0, this.#at);
  }

  /** Writes a whole number or a truth value. The default, zero, is left out. */
  number(field: number, value: number | bigint | boolean): void {
    const whole = typeof value === 'boolean' ? Number(value) : value;
    if (whole === 0 || whole === 0n) return;
    this.#varint(field * 8 + VARINT);
    this.#varint(whole);
  }

  /** Writes bytes or text. The default, no bytes, is left out. */
  bytes(field: number, value: Buffer | string): void {
    const length = Buffer.byteLength(value);
    if (length === 0) return;
    this.#varint(field * 8 + LENGTH_FIRST);
    this.#varint(length);
    if (this.#at + length > this.#bytes.length) this.#grow(length);
    if (typeof value === 'string') this.#bytes.write(value, this.#at);
    else value.copy(this.#bytes, this.#at);
    this.#at += length;
  }

  /** Writes a message, which may have no fields. @param write writes its fields */
  message(field: number, write: () => void): void {
    this.#varint(field * 8 + LENGTH_FIRST);
    // One byte for its length.
    this.#varint(0);
    const start = this.#at;
    write();
    const length = this.#at - start;
    if (length < SEVEN_BITS) {
      this.#bytes[start - 1] = length;
      return;
    }
    // The length takes more than one byte.
    const fields = Buffer.from(this.#bytes.subarray(start, this.#at));
    this.#at = start - 1;
    this.#varint(length);
    if (this.#at + length > this.#bytes.length) this.#grow(length);
    this.#at += fields.copy(this.#bytes, this.#at);
  }

  /** Negative numbers take ten bytes, as 64 bits of two's complement. */
  #varint(value: number | bigint): void {
    if (this.#at + LONGEST_VARINT > this.#bytes.length) this.#grow(LONGEST_VARINT);
    let rest = value;
    if (typeof rest === 'bigint') {
      rest = BigInt.asUintN(64, rest);
      for (; rest >= BigInt(SEVEN_BITS); rest >>= 7n) this.#bytes[this.#at++] = Number(rest & 127n) | SEVEN_BITS;
    } else {
      for (; rest >= SEVEN_BITS; rest = Math.floor(rest / SEVEN_BITS))
        this.#bytes[this.#at++] = (rest % SEVEN_BITS) | SEVEN_BITS;
    }
    this.#bytes[this.#at++] = Number(rest);
  }

  /** Makes room for `count` bytes more. */
  #grow(count: number): void {
    const longer = Buffer.allocUnsafe(Math.max(2 * this.#bytes.length, this.#at + count));
    this.#bytes.copy(longer, 0, 0, this.#at);
    this.#bytes = longer;
  }
}

/** The fields of one message, one after the other. A field that nothing reads is passed over. */
export class FieldReader {
  readonly #bytes: Buffer;
  readonly #end: number;
  #at: number;
  #encoding = VARINT;
  #isRead = true;

  constructor(bytes: Buffer, from = 0, end = bytes.length) {
    this.#bytes = bytes;
    this.#at = from;
    this.#end = end;
  }

  /** Goes to the next field. Returns its number, or 0 at the end of the message. @throws RangeError */
  next(): number {
    if (!this.#isRead) this.#passOver();
    if (this.#at >= this.#end) return 0;
    const tag = this.number();
    this.#encoding = tag % 8;
    this.#isRead = false;
    return Math.floor(tag / 8);
  }

  /** The field as a signed number of 64 bits. */
  bigint(): bigint {
    this.#isRead = true;
    return BigInt.asIntN(64, BigInt(this.#varint()));
  }

  /** The field as a number, which is not negative and below 2^53. */
  number(): number {
    this.#isRead = true;
    // Most numbers have one byte.
    const first = this.#at < this.#end ? (this.#bytes[this.#at] ?? SEVEN_BITS) : SEVEN_BITS;
    if (first >= SEVEN_BITS) return Number(this.#varint());
    this.#at++;
    return first;
  }

  bool(): boolean {
    return this.number() !== 0;
  }

  bytes(): Buffer {
    const [from, end] = this.#extent();
    return this.#bytes.subarray(from, end);
  }

  text(): string {
    return this.bytes().toString();
  }

  message(): FieldReader {
    return new FieldReader(this.#bytes, ...this.#extent());
  }

  #extent(): [from: number, end: number] {
    this.#isRead = true;
    const length = this.number();
    const from = this.#at;
    this.#move(length);
    return [from, this.#at];
  }

  #passOver(): void {
    this.#isRead = true;
    if (this.#encoding === VARINT) {
      while (this.#at < this.#end && (this.#bytes[this.#at] ?? 0) >= SEVEN_BITS) this.#at++;
      this.#move(1);
    } else if (this.#encoding === LENGTH_FIRST) this.#extent();
    else if (this.#encoding === EIGHT_BYTES) this.#move(8);
    else if (this.#encoding === FOUR_BYTES) this.#move(4);
    else throw new RangeError(`a field has the encoding ${this.#encoding}, which does not exist`);
  }

  #move(count: number): void {
    if (this.#at + count > this.#end) throw new RangeError('a field is longer than its message');
    this.#at += count;
  }

  #varint(): number | bigint {
    const bytes = this.#bytes;
    let value = 0;
    let factor = 1;
    for (let count = 0; count < MOST_SAFE_BYTES; count++) {
      if (this.#at >= this.#end) break;
      const byte = bytes[this.#at++] ?? 0;
      if (byte < SEVEN_BITS) return value + byte * factor;
      value += (byte - SEVEN_BITS) * factor;
      factor *= SEVEN_BITS;
    }
    return this.#largeVarint(BigInt(value));
  }

  /** The rest of a number that may need a big integer. They are slow, and most numbers are small. */
  #largeVarint(low: bigint): bigint {
    let large = low;
    for (let shift = 49n; ; shift += 7n) {
      if (shift > 63n) throw new RangeError('a number has more than 64 bits');
      const byte = this.#byte();
      large |= BigInt(byte & 127) << shift;
      if (byte < SEVEN_BITS) return large;
    }
  }

  #byte(): number {
    const byte = this.#at < this.#end ? this.#bytes[this.#at++] : undefined;
    if (byte === undefined) throw new RangeError('a number is longer than its message');
    return byte;
  }
}
