import { OwnAbortController } from '../../async/abort.js';
import type { Dispose } from '../../async/abort.js';
import { settledWithin } from '../../async/timer.js';
import { isConnectionLoss, isKeeperError } from '../session/requests.js';
import type { CreatedNode } from '../session/requests.js';
import type { Session } from '../session/session.js';
import { SessionEndedError } from '../session/session-ended-error.js';
import { PlaceLostError } from './place-lost-error.js';
import { joinLine, partFromLine } from './lines.js';
import type { Line } from './line.js';
import { hasOwnName } from './standing.js';

/** A place in line: one ephemeral znode, and the promise that it will be gone. */
export class Contender {
  readonly path: string;
  readonly name: string;
  readonly directory: string;
  readonly czxid: bigint;
  /** What its session knows of the line in which it stands. */
  readonly line: Line;
  readonly #session: Session;
  #gone: AbortController | undefined;
  #isGone = false;
  #onGone: (() => void) | undefined;
  readonly #unattend: Dispose;
  #left: Promise<void> | undefined;

  constructor(session: Session, { path, czxid }: CreatedNode) {
    this.path = path;
    const slash = path.lastIndexOf('/');
    this.directory = path.slice(0, slash);
    this.name = path.slice(slash + 1);
    this.czxid = czxid;
    this.#session = session;
    this.line = joinLine(session, this.directory, this);
    const own = { path, czxid: this.sharesItsName ? czxid : undefined, onGone: () => this.foundGone() };
    this.#unattend = session.attend(own);
  }

  /** Whether it has gone out, or is about to. */
  get isLeaving(): boolean {
    return this.#left !== undefined;
  }

  /** Whether the znode was found gone although nobody here deleted it. */
  get isGone(): boolean {
    return this.#isGone;
  }

  /** Aborts with a `PlaceLostError` then. */
  get gone(): AbortSignal {
    this.#gone ??= new OwnAbortController();
    if (this.#isGone) this.#gone.abort(new PlaceLostError(this.path));
    return this.#gone.signal;
  }

  /** Calls back then. There is one such listener. */
  onGone(listener: () => void): void {
    this.#onGone = listener;
  }

  /** Somebody else has deleted the znode. */
  foundGone(): void {
    if (this.#isGone) return;
    this.#isGone = true;
    this.#gone?.abort(new PlaceLostError(this.path));
    this.#onGone?.();
    partFromLine(this.#session, this.directory, this, 'unknown');
  }

  /**
   * Deletes the znode, for certain: through disconnections, until it is gone or the session is. Resolves when that is
   * so, or after `ms`, when it goes on by itself. Never rejects.
   */
  leave(ms: number): Promise<void> {
    this.#unattend();
    // What was found gone may have been made again by somebody else, at the same path.
    this.#left ??= this.#isGone ? Promise.resolve() : this.#delete();
    return settledWithin(this.#left, ms);
  }

  /** Whether others make znodes at the same path, which must not be taken for this one. */
  get sharesItsName(): boolean {
    return !hasOwnName(this.name);
  }

  async #delete(): Promise<void> {
    const deletion = this.#deletion();
    try {
      // Most often the first attempt does; what it takes to be sure is only made up when it does not.
      await deletion().catch((error: unknown) => this.#deleteSurely(deletion, error));
      partFromLine(this.#session, this.directory, this, 'left');
    } catch (error) {
      const isGone = isKeeperError(error, 'noNode') || error instanceof SessionEndedError;
      if (isGone) return partFromLine(this.#session, this.directory, this, 'left');
      process.emitWarning(
        `${this.path} can not be deleted; it blocks its line until the session ends: ${String(error)}`,
      );
    }
  }

  #deleteSurely(deletion: () => Promise<void>, error: unknown): Promise<void> {
    if (isKeeperError(error, 'noNode')) throw error;
    return this.#session.surely(deletion);
  }

  /** One attempt after the other; of a shared name, only the first is made without looking whose znode it is. */
  #deletion(): () => Promise<void> {
    let mayBeAnothers = false;
    return async () => {
      if (mayBeAnothers && !(await this.#isStillThere())) return;
      await this.#session.requests.delete(this.path).catch((error: unknown) => {
        mayBeAnothers = this.sharesItsName && isConnectionLoss(error);
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
