/** The ways in which a field is encoded. */
const VARINT = 0;
const EIGHT_BYTES = 1;
const LENGTH_FIRST = 2;
const FOUR_BYTES = 5;

const NOTHING = Buffer.alloc(0);
const SEVEN_BITS = 128;
const MOST_SAFE_BYTES = 7;
/** The most bytes of a field's number, up to 2^28, and of any number. */
const LONGEST_TAG = 5;
const LONGEST_VARINT = 10;

/** Returns a field with a whole number or a truth value. The default, zero, is left out. */
export function intField(number: number, value: number | bigint | boolean): Buffer {
  const whole = typeof value === 'boolean' ? Number(value) : value;
  if (whole === 0 || whole === 0n) return NOTHING;
  const field = Buffer.allocUnsafe(LONGEST_TAG + LONGEST_VARINT);
  return field.subarray(0, writeVarint(field, whole, writeVarint(field, tagOf(number, VARINT), 0)));
}

/** Returns a field with bytes or text. The default, no bytes, is left out. */
export function bytesField(number: number, value: Buffer | string): Buffer {
  const bytes = typeof value === 'string' ? Buffer.from(value) : value;
  return bytes.length === 0 ? NOTHING : lengthFirst(number, [bytes]);
}

/** Returns a field with a message, which may have no fields. */
export function messageField(number: number, fields: readonly Buffer[]): Buffer {
  return lengthFirst(number, fields);
}

function lengthFirst(number: number, parts: readonly Buffer[]): Buffer {
  let length = 0;
  for (const part of parts) length += part.length;
  const field = Buffer.allocUnsafe(LONGEST_TAG + LONGEST_VARINT + length);
  let at = writeVarint(field, length, writeVarint(field, tagOf(number, LENGTH_FIRST), 0));
  for (const part of parts) at += part.copy(field, at);
  return field.subarray(0, at);
}

function tagOf(number: number, encoding: number): number {
  return number * 8 + encoding;
}

/** Writes a number. Negative ones take ten bytes, as 64 bits of two's complement. Returns where the next byte goes. */
function writeVarint(into: Buffer, value: number | bigint, from: number): number {
  let at = from;
  let rest = value;
  if (typeof rest === 'bigint') {
    rest = BigInt.asUintN(64, rest);
    for (; rest >= BigInt(SEVEN_BITS); rest >>= 7n) into[at++] = Number(rest & 127n) | SEVEN_BITS;
    into[at++] = Number(rest);
    return at;
  }
  for (; rest >= SEVEN_BITS; rest = Math.floor(rest / SEVEN_BITS)) into[at++] = (rest % SEVEN_BITS) | SEVEN_BITS;
  into[at++] = rest;
  return at;
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
    const tag = Number(this.#varint());
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
    return Number(this.#varint());
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
    const length = Number(this.#varint());
    const from = this.#at;
    this.#move(length);
    return [from, this.#at];
  }

  #passOver(): void {
    this.#isRead = true;
    if (this.#encoding === VARINT) this.#varint();
    else if (this.#encoding === LENGTH_FIRST) this.#extent();
    else if (this.#encoding === EIGHT_BYTES) this.#move(8);
    else if (this.#encoding === FOUR_BYTES) this.#move(4);
    else throw new RangeError(`a field has the encoding ${this.#encoding}, which does not exist`);
  }

  #move(count: number): void {
    if (this.#at + count > this.#end) throw new RangeError('a field is longer than its message');
    this.#at += count;
  }

  // Most numbers are small: big integers are slow.
  #varint(): number | bigint {
    let value = 0;
    let factor = 1;
    for (let count = 0; count < MOST_SAFE_BYTES; count++) {
      const byte = this.#byte();
      value += (byte & 127) * factor;
      if (byte < SEVEN_BITS) return value;
      factor *= SEVEN_BITS;
    }
    let large = BigInt(value);
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
