import { ForeignProcess } from './foreign-process.js';
import type { CallOptions } from './foreign-process.js';
import { startJava, startNode, startPython } from './start.js';

/** Programs that have locks of some kind, behind the same two verbs. */
export type Language = 'node' | 'java' | 'python';

export interface LockOn {
  /** The full path of the lock's directory. */
  readonly path: string;
  /** The program's name for the kind of lock, such as `mutex`, `read` or `write`. */
  readonly kind: string;
}

const ANSWERS_WITHIN_MS = 30_000;

/** A separate process, in any language, that acquires locks and releases them. */
export class LockProgram implements AsyncDisposable {
  readonly process: ForeignProcess;

  constructor(language: Language, connectString: string, sessionTimeoutMs: number) {
    const args = [connectString, String(sessionTimeoutMs)];
    if (language === 'java') this.process = startJava('Locks', args);
    else this.process = language === 'python' ? startPython('locks', args) : startNode('locks', args);
  }

  /**
   * Resolves with the time of the grant, in nanoseconds on the machine's monotonic clock, or `null` without a grant
   * within `waitMs`.
   */
  acquire(lock: LockOn, waitMs: number, options: CallOptions = {}): Promise<number | null> {
    return this.process.call('acquire', { ...lock, waitMs }, { withinMs: waitMs + ANSWERS_WITHIN_MS, ...options });
  }

  /** Resolves with the last time at which the lock was certainly held. */
  release(lock: LockOn, options: CallOptions = {}): Promise<number> {
    return this.process.call('release', lock, options);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.process.kill();
  }
}
