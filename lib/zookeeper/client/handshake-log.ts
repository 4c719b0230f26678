/** The handshakes that ask for one session again: when each was sent, and whether they go without an answer. */
export class HandshakeLog {
  #sentAt: number | undefined;
  #unansweredSince: number | undefined;

  /** When the handshake of the moment was sent. */
  get sentAt(): number {
    return this.#sentAt ?? 0;
  }

  sent(at: number): void {
    this.#sentAt = at;
  }

  answered(): void {
    this.#unansweredSince = undefined;
  }

  /** The connection of the moment is gone. */
  over(): void {
    this.#sentAt = undefined;
  }

  /** The time for an answer is up. Says how long servers have been asked in vain, themselves silent, by `at`. */
  unanswered(at: number): number {
    this.#unansweredSince ??= this.#sentAt;
    return at - (this.#unansweredSince ?? at);
  }
}
