import { JuteReader } from '../../../lib/zookeeper/wire/jute.js';

/** A reader of records that knows how many bytes are left: a reply with an additional byte is a different reply. */
export class RecordReader {
  readonly #bytes: Buffer;
  #offset: number;

  constructor(bytes: Buffer, offset = 0) {
    this.#bytes = bytes;
    this.#offset = offset;
  }

  /** The number of unread bytes. */
  get left(): number {
    return this.#bytes.length - this.#offset;
  }

  bool(): boolean {
    return this.#advance(1).bool();
  }

  int(): number {
    return this.#advance(4).int();
  }

  long(): bigint {
    return this.#advance(8).long();
  }

  /** `null` for length -1, which differs from zero bytes. */
  buffer(): Buffer | null {
    const length = this.int();
    if (length < 0) return null;
    if (length > this.left) throw new RangeError(`${length} bytes of ${this.left}`);
    const start = this.#offset;
    this.#offset += length;
    return this.#bytes.subarray(start, this.#offset);
  }

  string(): string | null {
    return this.buffer()?.toString() ?? null;
  }

  vector<T>(read: () => T): T[] | null {
    const count = this.int();
    return count < 0 ? null : Array.from({ length: count }, read);
  }

  rest(): Buffer {
    const rest = this.#bytes.subarray(this.#offset);
    this.#offset = this.#bytes.length;
    return rest;
  }

  #advance(bytes: number): JuteReader {
    if (bytes > this.left) throw new RangeError(`${bytes} bytes of ${this.left}`);
    const jute = new JuteReader(this.#bytes, this.#offset);
    this.#offset += bytes;
    return jute;
  }
}
