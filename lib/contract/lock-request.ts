import type { LeaseMode } from './lease.js';

/** How contenders stand: in a line, first come first served, or not at all (whoever asks at the right time). */
export type Line = 'fifo' | 'none';

/** One acquisition, as a backend sees it. The deadline is already part of `signal`. */
export interface LockRequest {
  readonly key: string;
  readonly mode: Exclude<LeaseMode, 'permit'>;
  readonly line: Line;
  /** `false`: answer `null` at once when somebody is ahead. */
  readonly wait: boolean;
  /** Ends the wait: the backend leaves the line, then rejects with `signal.reason`. */
  readonly signal: AbortSignal;
  readonly label?: string | undefined;
}
