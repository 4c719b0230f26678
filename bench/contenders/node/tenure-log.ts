import { closeSync, openSync, writeSync } from 'node:fs';
import { FIELDS } from '../../support/tenure-file.js';

const CHUNK = 16_384 * FIELDS.length;

/** A log of acquisitions with minimal overhead, written to the file that the bench reads. */
export class TenureLog {
  readonly #full: Float64Array[] = [];
  #chunk = new Float64Array(CHUNK);
  #end = 0;

  /** Adds an acquisition. Times are in nanoseconds on the shared clock. */
  add(lock: number, isShared: boolean, asked: number, from: number, to: number, released: number): void {
    if (this.#end === CHUNK) {
      this.#full.push(this.#chunk);
      this.#chunk = new Float64Array(CHUNK);
      this.#end = 0;
    }
    const chunk = this.#chunk;
    const at = this.#end;
    chunk[at] = lock;
    chunk[at + 1] = isShared ? 1 : 0;
    chunk[at + 2] = asked;
    chunk[at + 3] = from;
    chunk[at + 4] = to;
    chunk[at + 5] = released;
    this.#end = at + FIELDS.length;
  }

  write(file: string): void {
    const fd = openSync(file, 'w');
    for (const chunk of [...this.#full, this.#chunk.subarray(0, this.#end)]) {
      const bytes = new Uint8Array(chunk.buffer, chunk.byteOffset, chunk.byteLength);
      for (let at = 0; at < bytes.length;) at += writeSync(fd, bytes, at);
    }
    closeSync(fd);
  }
}
