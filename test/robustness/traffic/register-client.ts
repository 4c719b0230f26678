import { sharedNow } from '../clock.js';
import type { Mode } from '../model/history.js';
import type { Belief } from './beliefs.js';
import type { Journal } from './journal.js';
import type { Report } from './orders.js';

/** Storage that is guarded by tokens, as a holder writes to it. */
export interface Register {
  /** Resolves when the register has accepted or refused the write. */
  write(belief: Belief, mode: Mode): Promise<void>;
}

/** The fenced register, as a worker writes to it. The register is in the conductor, behind the process's channel. */
export class RegisterClient implements Register {
  readonly #journal: Journal;
  readonly #tell: (report: Report) => void;
  readonly #waiting = new Map<number, (accepted: boolean) => void>();
  #count = 0;

  constructor(journal: Journal, tell: (report: Report) => void) {
    this.#journal = journal;
    this.#tell = tell;
  }

  async write({ id: hold, lease }: Belief, mode: Mode): Promise<void> {
    const write = ++this.#count;
    const answer = new Promise<boolean>((resolve) => this.#waiting.set(write, resolve));
    this.#tell({ report: 'write', write, hold, key: lease.key, mode, token: String(lease.fencingToken) });
    const accepted = await answer;
    this.#journal.write({ what: 'wrote', hold, answeredAt: sharedNow(), accepted });
  }

  answered(write: number, accepted: boolean): void {
    this.#waiting.get(write)?.(accepted);
    this.#waiting.delete(write);
  }
}
