import { settledWithin } from '../../async/timer.js';
import { fencingTokenOf } from '../../contract/fencing-token.js';
import type { Demand, Grant } from '../../contract/granted-lease.js';
import { nameOf } from '../../contract/keyed-request.js';
import type { LockRequest } from '../../contract/lock-request.js';
import type { Session } from '../session/session.js';
import type { Contender } from './contender.js';
import { becomeReader } from './downgrade.js';
import { KeptNote } from './kept-note.js';
import { LineDemand } from './line-demand.js';
import type { LockDirectory } from './lock-directory.js';

/** What the contender is granted whose turn has come in its line. */
export class LineGrant implements Grant {
  readonly key: string;
  readonly fencingToken: bigint;
  readonly giveBack: () => Promise<void>;
  readonly #session: Session;
  readonly #directory: LockDirectory;
  readonly #contender: Contender;
  readonly #request: LockRequest;
  #note: KeptNote | undefined;

  constructor(
    session: Session,
    directory: LockDirectory,
    contender: Contender,
    request: LockRequest,
    giveBack: () => Promise<void>,
  ) {
    this.key = nameOf(request);
    this.fencingToken = fencingTokenOf(contender.czxid);
    this.giveBack = giveBack;
    this.#session = session;
    this.#directory = directory;
    this.#contender = contender;
    this.#request = request;
  }

  get mode(): LockRequest['mode'] {
    return this.#contender.isExchanged ? 'read' : this.#request.mode;
  }

  get demand(): Demand {
    return new LineDemand(this.#session, this.#contender);
  }

  isCurrent(): boolean {
    return this.#session.isCurrent && !this.#contender.isGone;
  }

  noteKept(isKept: boolean): void {
    this.#note ??= new KeptNote(this.#session, this.#contender, this.#request.label);
    this.#note.write(isKept);
  }

  /** What is not answered in time goes on by itself. */
  downgrade(): Promise<void> {
    const { label } = this.#request;
    const reading = becomeReader(this.#session, this.#directory, this.#contender, label);
    return settledWithin(reading, this.#directory.releaseTimeoutMs);
  }
}
