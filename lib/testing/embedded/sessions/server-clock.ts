/** Time that can be read and awaited. */
export interface Timers {
  /** Milliseconds since some moment. */
  now(): number;
  /** Calls `action` in so many milliseconds; disposes of that. */
  after(ms: number, action: () => void): () => void;
}

/** The time that a server goes by. */
export interface ServerClock extends Timers {
  /** Whether it goes on by itself. */
  readonly isRunning: boolean;
  /** Milliseconds since 1970. */
  wall(): number;
  /** Calls `action` once everything that has arrived by now has been read. */
  whenRead(action: () => void): void;
}
