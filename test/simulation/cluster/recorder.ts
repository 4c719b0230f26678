import { createHash } from 'node:crypto';

const BUFFER_BYTES = 1 << 16;

/**
 * Folds everything that happens into one hash: two runs of one plan must have the same. With `keep` it is also kept as
 * text, for the first line in which two runs differ and for the story of a failure.
 */
export class Recorder {
  readonly lines: string[] | undefined;
  readonly #hash = createHash('sha256');
  readonly #buffer = Buffer.alloc(BUFFER_BYTES);
  readonly #reached = new Set<number>();
  readonly #kinds = new Map<string, number>();
  #lastKinds = 0;
  #filled = 0;

  constructor(keep: boolean) {
    this.lines = keep ? [] : undefined;
  }

  /** The sequences of three consecutive kinds of notes that occurred, each as one number. */
  get reached(): readonly number[] {
    return [...this.#reached];
  }

  /** The number of notes of each kind. */
  get kinds(): Readonly<Record<string, number>> {
    return Object.fromEntries(this.#kinds);
  }

  /** Records a segment that arrived. */
  arrived(now: number, from: string, to: string, kind: string, bytes: Buffer | undefined): void {
    this.#text(`${now} ${from} ${to} ${kind}`);
    if (bytes) this.#bytes(bytes);
    this.lines?.push(`${now} ${from}>${to} ${kind} ${bytes?.toString('hex') ?? ''}`);
  }

  /** @param kind a category of notes, without the names and numbers of a single one */
  note(now: number, who: string, text: string, kind: string): void {
    this.#kinds.set(kind, (this.#kinds.get(kind) ?? 0) + 1);
    this.#lastKinds = ((this.#lastKinds << 8) | hashOf(kind)) & 0xff_ffff;
    this.#reached.add(this.#lastKinds);
    this.#text(`${now} ${who} ${text}`);
    this.lines?.push(`${now} ${who} ${text}`);
  }

  /** Ends the recording. Returns the hash. */
  digest(): string {
    this.#flush();
    return this.#hash.digest('hex');
  }

  #text(text: string): void {
    if (text.length * 3 > BUFFER_BYTES) return this.#bytes(Buffer.from(text));
    if (this.#filled + text.length * 3 > BUFFER_BYTES) this.#flush();
    this.#filled += this.#buffer.write(text, this.#filled);
  }

  #bytes(bytes: Buffer): void {
    if (bytes.length > BUFFER_BYTES) {
      this.#flush();
      this.#hash.update(bytes);
      return;
    }
    if (this.#filled + bytes.length > BUFFER_BYTES) this.#flush();
    this.#filled += bytes.copy(this.#buffer, this.#filled);
  }

  #flush(): void {
    this.#hash.update(this.#buffer.subarray(0, this.#filled));
    this.#filled = 0;
  }
}

/** A hash of one byte. */
function hashOf(text: string): number {
  let hash = 7;
  for (let at = 0; at < text.length; at++) hash = (Math.imul(hash, 31) + text.charCodeAt(at)) | 0;
  return (hash ^ (hash >>> 13)) & 0xff;
}
