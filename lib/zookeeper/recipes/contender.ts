import type { Dispose } from '../../async/abort.js';
import { settledWithin } from '../../async/timer.js';
import { isConnectionLoss, isKeeperError } from '../session/requests.js';
import type { CreatedNode } from '../session/requests.js';
import type { Session } from '../session/session.js';
import { SessionEndedError } from '../session/session-ended-error.js';
import { PlaceLostError } from './place-lost-error.js';
import { SINGLE_NODE } from './predecessor.js';

/** A place in line: one ephemeral znode, and the promise that it will be gone. */
export class Contender {
  readonly path: string;
  readonly name: string;
  readonly czxid: bigint;
  readonly #session: Session;
  readonly #gone = new AbortController();
  readonly #unattend: Dispose;
  #left: Promise<void> | undefined;

  constructor(session: Session, { path, czxid }: CreatedNode) {
    this.path = path;
    this.name = path.slice(path.lastIndexOf('/') + 1);
    this.czxid = czxid;
    this.#session = session;
    const onGone = () => this.#gone.abort(new PlaceLostError(path));
    this.#unattend = session.attend({ path, czxid: this.#sharesItsName ? czxid : undefined, onGone });
  }

  /** Aborts with a `PlaceLostError` when the znode is found gone although nobody here deleted it. */
  get gone(): AbortSignal {
    return this.#gone.signal;
  }

  /**
   * Deletes the znode, for certain: through disconnections, until it is gone or the session is. Resolves when that is
   * so, or after `ms`, when it goes on by itself. Never rejects.
   */
  leave(ms: number): Promise<void> {
    this.#unattend();
    // What was found gone may have been made again by somebody else, at the same path.
    this.#left ??= this.gone.aborted ? Promise.resolve() : this.#surelyDelete();
    return settledWithin(this.#left, ms);
  }

  /** Whether others make znodes at the same path, which must not be taken for this one. */
  get #sharesItsName(): boolean {
    return this.name === SINGLE_NODE;
  }

  async #surelyDelete(): Promise<void> {
    try {
      await this.#session.surely(this.#deletion());
    } catch (error) {
      if (isKeeperError(error, 'noNode') || error instanceof SessionEndedError) return;
      process.emitWarning(
        `${this.path} can not be deleted; it blocks its line until the session ends: ${String(error)}`,
      );
    }
  }

  /** One attempt after the other; of a shared name, only the first is made without looking whose znode it is. */
  #deletion(): () => Promise<void> {
    let mayBeAnothers = false;
    return async () => {
      if (mayBeAnothers && !(await this.#isStillThere())) return;
      await this.#session.requests.delete(this.path).catch((error: unknown) => {
        mayBeAnothers = this.#sharesItsName && isConnectionLoss(error);
        throw error;
      });
    };
  }

  async #isStillThere(): Promise<boolean> {
    await this.#session.requests.sync(this.path);
    const { stat } = await this.#session.requests.read(this.path);
    return stat.czxid === this.czxid;
  }
}
