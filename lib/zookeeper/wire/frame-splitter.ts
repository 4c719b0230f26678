/** Larger than any reply a server sends with the stock jute.maxbuffer; beyond it the stream is not ZooKeeper's. */
const LARGEST_FRAME = 64 * 1024 * 1024;

/** Cuts a byte stream into length-prefixed frames, however the chunks fall. One for each connection. */
export class FrameSplitter {
  #pending: Buffer = Buffer.alloc(0);

  /** The complete frames (without their length) that `chunk` completes. @throws RangeError on an impossible length */
  push(chunk: Buffer): Buffer[] {
    const bytes = this.#pending.length === 0 ? chunk : Buffer.concat([this.#pending, chunk]);
    const frames: Buffer[] = [];
    let offset = 0;
    while (offset + 4 <= bytes.length) {
      const end = offset + 4 + frameLength(bytes, offset);
      if (end > bytes.length) break;
      frames.push(bytes.subarray(offset + 4, end));
      offset = end;
    }
    this.#pending = bytes.subarray(offset);
    return frames;
  }
}

function frameLength(bytes: Buffer, offset: number): number {
  const length = bytes.readInt32BE(offset);
  if (length < 0 || length > LARGEST_FRAME) throw new RangeError(`a frame of ${length} bytes`);
  return length;
}
