import type { Dispose } from '../../async/abort.js';
import { isKeeperError } from '../session/requests.js';
import type { CreatedNode } from '../session/requests.js';
import type { Session } from '../session/session.js';
import { SessionEndedError } from '../session/session-ended-error.js';
import { PlaceLostError } from './place-lost-error.js';

/** A place in line: one ephemeral znode, and the promise that it will be gone. */
export class Contender {
  readonly path: string;
  readonly name: string;
  readonly czxid: bigint;
  readonly #session: Session;
  readonly #gone = new AbortController();
  readonly #unattend: Dispose;
  #left: Promise<void> | undefined;

  constructor(session: Session, node: CreatedNode) {
    this.path = node.path;
    this.name = node.path.slice(node.path.lastIndexOf('/') + 1);
    this.czxid = node.czxid;
    this.#session = session;
    this.#unattend = session.attend(node.path, () => this.#gone.abort(new PlaceLostError(node.path)));
  }

  /** Aborts with a `PlaceLostError` when the znode is found gone although nobody here deleted it. */
  get gone(): AbortSignal {
    return this.#gone.signal;
  }

  /** Deletes the znode, for certain: through disconnections, until it is gone or the session is. Never rejects. */
  leave(): Promise<void> {
    this.#unattend();
    return (this.#left ??= surelyDelete(this.#session, this.path));
  }
}

async function surelyDelete(session: Session, path: string): Promise<void> {
  try {
    await session.persistently(() => session.requests.delete(path).catch(unlessGone));
  } catch (error) {
    if (error instanceof SessionEndedError) return;
    process.emitWarning(`${path} could not be deleted and blocks its line until the session ends: ${String(error)}`);
  }
}

function unlessGone(error: unknown): void {
  if (!isKeeperError(error, 'noNode')) throw error;
}
