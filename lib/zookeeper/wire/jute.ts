/**
 * Jute, ZooKeeper's encoding:
 * - integers are big-endian
 * - strings and buffers have an int32 length (-1 is null)
 * - vectors have an int32 count
 * - records are their fields in order
 */
export class JuteWriter {
  #bytes = Buffer.allocUnsafe(256);
  #length = 0;

  byte(value: number): this {
    this.#length = this.#room(1).writeInt8(value, this.#length);
    return this;
  }

  bool(value: boolean): this {
    this.#length = this.#room(1).writeInt8(value ? 1 : 0, this.#length);
    return this;
  }

  int(value: number): this {
    this.#length = this.#room(4).writeInt32BE(value, this.#length);
    return this;
  }

  long(value: bigint): this {
    this.#length = this.#room(8).writeBigInt64BE(value, this.#length);
    return this;
  }

  buffer(value: Buffer): this {
    this.int(value.length);
    this.#length += value.copy(this.#room(value.length), this.#length);
    return this;
  }

  string(value: string): this {
    const length = Buffer.byteLength(value);
    const at = this.#room(4 + length).writeInt32BE(length, this.#length);
    this.#length = at + this.#bytes.write(value, at);
    return this;
  }

  vector<T>(items: readonly T[], write: (item: T) => unknown): this {
    this.int(items.length);
    items.forEach(write);
    return this;
  }

  /** The bytes of an already encoded record. */
  raw(value: Buffer): this {
    this.#length += value.copy(this.#room(value.length), this.#length);
    return this;
  }

  toBuffer(): Buffer {
    return this.#bytes.subarray(0, this.#length);
  }

  #room(bytes: number): Buffer {
    const needed = this.#length + bytes;
    if (needed > this.#bytes.length) {
      const larger = Buffer.allocUnsafe(Math.max(needed, this.#bytes.length * 2));
      this.#bytes.copy(larger, 0, 0, this.#length);
      this.#bytes = larger;
    }
    return this.#bytes;
  }
}

/** Reads what `JuteWriter` and the servers write. Reading past the end throws a RangeError. */
export class JuteReader {
  readonly #bytes: Buffer;
  #offset: number;

  constructor(bytes: Buffer, offset = 0) {
    this.#bytes = bytes;
    this.#offset = offset;
  }

  bool(): boolean {
    const value = this.#bytes.readInt8(this.#offset);
    this.#offset += 1;
    return value !== 0;
  }

  int(): number {
    const value = this.#bytes.readInt32BE(this.#offset);
    this.#offset += 4;
    return value;
  }

  long(): bigint {
    const value = this.#bytes.readBigInt64BE(this.#offset);
    this.#offset += 8;
    return value;
  }

  buffer(): Buffer {
    return this.raw(Math.max(0, this.int()));
  }

  string(): string {
    const length = Math.max(0, this.int());
    const start = this.#span(length);
    return this.#bytes.toString('utf8', start, start + length);
  }

  vector<T>(read: () => T): T[] {
    const items: T[] = [];
    for (let left = this.int(); left > 0; left--) items.push(read());
    return items;
  }

  /** Returns `length` bytes, not decoded. */
  raw(length: number): Buffer {
    const start = this.#span(length);
    return this.#bytes.subarray(start, start + length);
  }

  /** Advances by `length` bytes and returns the offset of the first. */
  #span(length: number): number {
    const start = this.#offset;
    if (length < 0 || start + length > this.#bytes.length) throw new RangeError(`a record ends within ${length} bytes`);
    this.#offset += length;
    return start;
  }
}
