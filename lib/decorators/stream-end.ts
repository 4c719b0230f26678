// A stream that nobody consumes to its end, and nobody can any more, must not keep its key for ever.
const abandoned = new FinalizationRegistry<StreamEnd>((end) => end.complete());

/**
 * The end of a stream that holds a lease, between the two who wait for it: the lease, which is given back when the
 * stream has ended, and the consumer, who hears of the end when the lease has been given back.
 */
export class StreamEnd {
  /** Settles when the stream has ended; rejects with the stream's own error. */
  readonly reached: Promise<void>;
  /** Settles when the lease has been given back; rejects with what the consumer is to be told. */
  readonly outcome: Promise<unknown>;
  #resolve!: () => void;
  #reject!: (reason: unknown) => void;
  #settle!: (outcome: Promise<unknown>) => void;

  constructor() {
    this.reached = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
    this.outcome = new Promise((resolve) => (this.#settle = resolve));
    this.outcome.catch(() => {});
  }

  complete(): void {
    this.#resolve();
  }

  fail(error: unknown): void {
    this.#reject(error);
  }

  /** Says whose end the consumer is to be told. */
  follow(outcome: Promise<unknown>): void {
    this.#settle(outcome);
  }

  /** Ends the stream when the object that it can be consumed through, the latest one named here, is gone. */
  completeWithout(consumable: object): void {
    this.completeOnItsOwn();
    abandoned.register(consumable, this, this);
  }

  /** From now on somebody consumes the stream: it ends when they say so. */
  completeOnItsOwn(): void {
    abandoned.unregister(this);
  }
}
