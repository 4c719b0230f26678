import type { Session } from '../session/session.js';
import { contenderData } from './contender-data.js';
import type { Contender } from './contender.js';

/** Notes in a contender's znode whether its lease is only kept. For others to see; what cannot be noted is not. */
export class KeptNote {
  readonly #session: Session;
  readonly #contender: Contender;
  readonly #label: string | undefined;
  #version = 0;

  constructor(session: Session, contender: Contender, label: string | undefined) {
    this.#session = session;
    this.#contender = contender;
    this.#label = label;
  }

  write(isKept: boolean): void {
    const data = contenderData(this.#label, undefined, isKept || undefined);
    // Each of one version: what somebody else has written since, such as a revocation, must not be written over.
    const op = { type: 'setData', path: this.#contender.path, data, version: this.#version++ } as const;
    this.#session.requests.multi([op]).catch(() => {});
  }
}
