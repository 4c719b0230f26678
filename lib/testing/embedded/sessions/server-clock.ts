/** The time that a server goes by. */
export interface ServerClock {
  /** Milliseconds since some moment. */
  now(): number;
  /** Milliseconds since 1970. */
  wall(): number;
  /** Calls `action` in so many milliseconds; disposes of that. */
  after(ms: number, action: () => void): () => void;
  /** Calls `action` once everything that has arrived by now has been read. */
  whenRead(action: () => void): void;
}
