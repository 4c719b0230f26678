import { ErrorCode } from '../session/requests.js';
import type { Session } from '../session/session.js';
import { contenderData } from './contender-data.js';
import type { Contender } from './contender.js';

/** Notes in a contender's znode whether its lease is only kept. For others to see; what cannot be noted is not. */
export class KeptNote {
  readonly #session: Session;
  readonly #path: string;
  readonly #label: string | undefined;
  #version = 0;
  #isKept = false;
  #isNoted = false;
  #isWriting = false;
  #isOver = false;

  constructor(session: Session, contender: Contender, label: string | undefined) {
    this.#session = session;
    this.#path = contender.path;
    this.#label = label;
  }

  write(isKept: boolean): void {
    this.#isKept = isKept;
    if (!this.#isWriting) void this.#catchUp();
  }

  async #catchUp(): Promise<void> {
    this.#isWriting = true;
    while (this.#isKept !== this.#isNoted && !this.#isOver) {
      const isKept = this.#isKept;
      // What somebody else has written, such as a revocation, is never written over: not after one refusal either.
      this.#isOver = !(await this.#note(isKept));
      this.#isNoted = isKept;
    }
    this.#isWriting = false;
  }

  async #note(isKept: boolean): Promise<boolean> {
    const data = contenderData(this.#label, undefined, isKept || undefined);
    const op = { type: 'setData', path: this.#path, data, version: this.#version++ } as const;
    const { results } = await this.#session.requests.multi([op]).catch(() => ({ results: [] }));
    return results[0]?.error === ErrorCode.ok;
  }
}
