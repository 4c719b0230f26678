import type { ForeignProcess } from '../support/foreign-process.js';
import { startJava } from '../support/start.js';

/** A participant as Curator's LeaderLatch reports it. */
export interface Participant {
  readonly id: string;
  readonly isLeader: boolean;
}

/** The participants of one election in a process with Curator's LeaderLatch, each by its id. */
export class LatchProgram implements AsyncDisposable {
  readonly #java: ForeignProcess;
  readonly #path: string;

  constructor(connectString: string, sessionTimeoutMs: number, path: string) {
    this.#java = startJava('Latches', [connectString, String(sessionTimeoutMs)]);
    this.#path = path;
  }

  campaign(id: string): Promise<null> {
    return this.#java.call('campaign', { path: this.#path, id });
  }

  elected(id: string, waitMs = 20_000): Promise<boolean> {
    return this.#java.call('elected', { path: this.#path, id, waitMs });
  }

  /** Whether the participant leads. Can be called while `elected` is pending. */
  leads(id: string): Promise<boolean> {
    return this.#java.call('leads', { path: this.#path, id }, { thread: 'looks' });
  }

  leader(id: string): Promise<Participant> {
    return this.#java.call('leader', { path: this.#path, id });
  }

  participants(id: string): Promise<readonly Participant[]> {
    return this.#java.call('participants', { path: this.#path, id });
  }

  resign(id: string): Promise<null> {
    return this.#java.call('resign', { path: this.#path, id });
  }

  kill(): Promise<void> {
    return this.#java.kill();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.kill();
  }
}
