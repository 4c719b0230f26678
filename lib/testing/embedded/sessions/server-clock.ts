/** A time that can be read and awaited. */
export interface Timers {
  /** Milliseconds since some moment. */
  now(): number;
  /** Calls `action` after this many milliseconds. Returns a function that cancels it. */
  after(ms: number, action: () => void): () => void;
}

/** The clock of a server. */
export interface ServerClock extends Timers {
  /** Whether its time passes by itself. */
  readonly isRunning: boolean;
  /** Milliseconds since 1970. */
  wall(): number;
  /** Calls `action` once everything that has arrived by now has been read. */
  whenRead(action: () => void): void;
}
