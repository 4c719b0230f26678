/** The bytes before a message: whether it is compressed, and its length. */
const HEAD_BYTES = 5;

const NOTHING = Buffer.alloc(0);

/** Returns a message as it is sent. */
export function frameOf(message: Buffer): Buffer {
  const frame = Buffer.allocUnsafe(HEAD_BYTES + message.length);
  frame[0] = 0;
  frame.writeUInt32BE(message.length, 1);
  message.copy(frame, HEAD_BYTES);
  return frame;
}

/** The messages in the bytes of a call, which come in pieces of any length. */
export class Frames {
  readonly #onMessage: (message: Buffer) => void;
  /** The pieces of a message that is not whole yet. */
  #pieces: Buffer[] = [];
  #length = 0;

  constructor(onMessage: (message: Buffer) => void) {
    this.#onMessage = onMessage;
  }

  /** @throws Error for a compressed message, which was not asked for */
  add(piece: Buffer): void {
    this.#pieces.push(piece);
    this.#length += piece.length;
    if (this.#length < this.#needed()) return;
    let rest = this.#joined();
    while (rest.length >= HEAD_BYTES) {
      if (rest[0] !== 0) throw new Error('a compressed message');
      const end = HEAD_BYTES + rest.readUInt32BE(1);
      if (rest.length < end) break;
      this.#onMessage(rest.subarray(HEAD_BYTES, end));
      rest = rest.subarray(end);
    }
    this.#pieces = rest.length === 0 ? [] : [rest];
    this.#length = rest.length;
  }

  /** The number of bytes that the first message, or its head, consists of. */
  #needed(): number {
    if (this.#length < HEAD_BYTES) return HEAD_BYTES;
    const [first = NOTHING] = this.#pieces;
    const head = first.length < HEAD_BYTES ? this.#joined() : first;
    return HEAD_BYTES + head.readUInt32BE(1);
  }

  #joined(): Buffer {
    const [first = NOTHING, ...others] = this.#pieces;
    if (others.length === 0) return first;
    const all = Buffer.concat(this.#pieces);
    this.#pieces = [all];
    return all;
  }
}
