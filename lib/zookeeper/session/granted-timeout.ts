import type { Handshake } from '../client/zookeeper-client.js';

/** Says so when the servers grant another session timeout than was asked for, once for each that they grant. */
export class GrantedTimeout {
  readonly #askedMs: number;
  #knownMs: number;
  #warn: (message: string) => void = () => {};

  constructor(askedMs: number) {
    this.#askedMs = askedMs;
    this.#knownMs = askedMs;
  }

  warnTo(warn: (message: string) => void): void {
    this.#warn = warn;
  }

  granted({ timeoutMs }: Handshake): void {
    if (timeoutMs === this.#knownMs) return;
    this.#knownMs = timeoutMs;
    if (timeoutMs !== this.#askedMs) this.#warn(this.#message(timeoutMs));
  }

  #message(grantedMs: number): string {
    const consequence =
      grantedMs > this.#askedMs
        ? 'the locks of a dead process stay for that long'
        : 'leases are lost after a shorter outage';
    return (
      `the servers grant sessions of ${grantedMs} ms, sessionTimeoutMs asks for ${this.#askedMs}: ${consequence} ` +
      '(minSessionTimeout and maxSessionTimeout of the servers; by default 2 and 20 of their ticks)'
    );
  }
}
