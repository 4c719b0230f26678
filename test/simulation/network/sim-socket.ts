import { Duplex } from 'node:stream';
import type { Direction, Segment } from './direction.js';

/** The connection as a socket uses it. */
export interface Line {
  readonly out: Direction;
  /** The socket is gone: later segments are not for it. */
  closed(): void;
  drawCut(length: number): number | undefined;
}

/** A TCP socket of a simulated process, with the parts of Node's that the library and the embedded server use. */
export class SimSocket extends Duplex {
  connecting = false;
  remoteAddress: string | undefined;
  remotePort: number | undefined;
  localPort: number | undefined;
  #line: Line | undefined;
  #waiting: (() => void)[] = [];
  #resets = false;
  #wasReset = false;

  constructor() {
    // A socket ends when the other side has ended, as Node's sockets do.
    super({ allowHalfOpen: false, autoDestroy: true });
  }

  /** The connection is established. Data that was written before is sent. */
  established(line: Line): void {
    this.#line = line;
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const send of waiting) send();
  }

  receive(segment: Segment): void {
    if (this.destroyed) return;
    if (segment.kind === 'bytes') this.push(segment.bytes);
    else if (segment.kind === 'fin') this.push(null);
    else {
      this.#wasReset = true;
      this.destroy(socketError('ECONNRESET', 'read'));
    }
  }

  setNoDelay(): this {
    return this;
  }

  setKeepAlive(): this {
    return this;
  }

  setTimeout(): this {
    return this;
  }

  ref(): this {
    return this;
  }

  unref(): this {
    return this;
  }

  address(): object {
    return { address: '127.0.0.1', family: 'IPv4', port: this.localPort };
  }

  destroySoon(): void {
    if (this.writable) this.end();
    if (this.writableFinished) this.destroy();
    else this.once('finish', () => this.destroy());
  }

  resetAndDestroy(): this {
    this.#resets = true;
    return this.destroy();
  }

  override _read(): void {}

  override _write(bytes: Buffer, _encoding: string, done: () => void): void {
    this.#whenEstablished((line) => {
      const cut = line.drawCut(bytes.length);
      if (cut !== undefined) line.out.send({ kind: 'bytes', bytes: Buffer.from(bytes.subarray(0, cut)) });
      line.out.send({ kind: 'bytes', bytes: Buffer.from(bytes.subarray(cut ?? 0)) });
      done();
    });
  }

  override _final(done: () => void): void {
    this.#whenEstablished((line) => {
      line.out.send({ kind: 'fin' });
      done();
    });
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    const line = this.#line;
    if (this.#resets) line?.out.send({ kind: 'rst' });
    else if (!this.#wasReset && !this.writableFinished) line?.out.send({ kind: 'fin' });
    line?.closed();
    this.#waiting = [];
    done(error);
  }

  #whenEstablished(send: (line: Line) => void): void {
    const line = this.#line;
    if (line) return send(line);
    this.#waiting.push(() => {
      if (this.#line && !this.destroyed) send(this.#line);
    });
  }
}

export function socketError(code: string, call: string): NodeJS.ErrnoException {
  return Object.assign(new Error(`${call} ${code}`), { code, syscall: call });
}
