/** Larger than any reply that a server sends with the default jute.maxbuffer. A longer frame is not ZooKeeper's. */
const LARGEST_FRAME = 64 * 1024 * 1024;

const LENGTH_BYTES = 4;

/**
 * Splits a byte stream into length-prefixed frames, independently of chunk boundaries. There is one for each
 * connection.
 */
export class FrameSplitter {
  readonly #largestFrame: number;
  #chunks: Buffer[] = [];
  #length = 0;
  #needed = LENGTH_BYTES;

  constructor(largestFrame = LARGEST_FRAME) {
    this.#largestFrame = largestFrame;
  }

  /** Returns the frames (without their length) that `chunk` completes. @throws RangeError on an impossible length */
  push(chunk: Buffer): Buffer[] {
    this.#chunks.push(chunk);
    this.#length += chunk.length;
    // The chunks are joined only when a frame is complete. Otherwise a large frame in small chunks would be copied for
    // each chunk.
    if (this.#length < this.#needed) return [];
    const bytes = this.#chunks.length === 1 ? chunk : Buffer.concat(this.#chunks);
    const frames: Buffer[] = [];
    let offset = 0;
    this.#needed = LENGTH_BYTES;
    while (offset + LENGTH_BYTES <= bytes.length) {
      const length = bytes.readInt32BE(offset);
      if (length < 0 || length > this.#largestFrame) {
        throw new RangeError(strangerIn(bytes.subarray(offset)) ?? `a frame of ${length} bytes`);
      }
      const end = offset + LENGTH_BYTES + length;
      this.#needed = end - offset;
      if (end > bytes.length) break;
      frames.push(bytes.subarray(offset + LENGTH_BYTES, end));
      offset = end;
      this.#needed = LENGTH_BYTES;
    }
    this.#chunks = offset < bytes.length ? [bytes.subarray(offset)] : [];
    this.#length = bytes.length - offset;
    return frames;
  }
}

const PRINTABLE = /^[\x20-\x7e]{4}$/;
const FIRST_TLS_RECORD = 0x14;
const LAST_TLS_RECORD = 0x17;
const TLS_VERSION = 3;

/** The explanation for bytes that are not from a ZooKeeper server, if the first ones show what they are. */
function strangerIn(bytes: Buffer): string | undefined {
  const text = bytes.toString('latin1', 0, LENGTH_BYTES);
  if (PRINTABLE.test(text)) return `the answer begins with "${text}": the port is not that of a ZooKeeper server`;
  const [type = 0, version] = bytes;
  const isTls = type >= FIRST_TLS_RECORD && type <= LAST_TLS_RECORD && version === TLS_VERSION;
  return isTls ? 'the server speaks TLS: set the tls option, or use its port without TLS' : undefined;
}
