import type { BackendState } from '../../../lib/contract/lock-backend.js';
import type { BackendVitals } from '../../../lib/contract/survey.js';
import { ObservedBackend } from './observed.backend.js';

/** A connection whose state the test sets. It counts the questions to servers. */
export class StatefulBackend extends ObservedBackend {
  override readonly name = 'stateful';
  questions = 0;
  sessionTimeoutMs = 60_000;
  marginMs = 1_000;
  #state: BackendState = 'connected';

  override get state(): BackendState {
    return this.#state;
  }

  turn(state: BackendState): void {
    this.#state = state;
    if (state === 'connected') this.changes.connected({ sessionId: `session ${Math.random()}` });
    else this.changes[state]('the test');
  }

  tellNothing(): void {
    this.changes.observe(() => {});
  }

  override vitals(): BackendVitals {
    return {
      sessionId: '0x1',
      sessionTimeoutMs: this.sessionTimeoutMs,
      marginMs: this.marginMs,
      server: 'zk1.example:2181',
    };
  }

  override lineOf(key: string) {
    this.questions++;
    return super.lineOf(key);
  }

  override async connect() {
    this.questions++;
  }
}
