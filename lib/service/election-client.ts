import type { EventOrigin } from '../contract/channels.js';
import type { Elections, Sighting, WonElection } from '../contract/elections.js';
import { LockConfigurationError } from '../contract/errors.js';
import type { LockRequest } from '../contract/lock-request.js';
import type { AcquisitionOptions } from './acquisition-gate.js';
import type { LockConnection } from './lock-connection.js';

/** Options of a campaign. */
export interface Candidature extends Pick<AcquisitionOptions, 'waitMs' | 'signal' | 'label'> {
  /** The value that the candidate proclaims when it is elected. */
  readonly value: string | undefined;
}

/** Campaigns on one connection. Candidates wait, are drained and shut down like callers that acquire a lock. */
export class ElectionClient {
  readonly #connection: LockConnection;

  constructor(connection: LockConnection) {
    this.#connection = connection;
  }

  /** The origin of the events of all elections. */
  get origin(): EventOrigin {
    return this.#connection.origin;
  }

  /**
   * @param usedBy decorator that needs the election, for messages
   * @throws LockConfigurationError when the backend holds no elections, or the name is invalid, or no service is set
   */
  check(name: string, usedBy?: string): void {
    this.#elections();
    this.#keyOf(name, usedBy);
  }

  /** Resolves once the candidate leads. @throws as an acquisition does */
  async stand(name: string, { value, ...options }: Candidature): Promise<WonElection> {
    const elections = this.#elections();
    const outcome: { won?: WonElection | null } = {};
    const ask = async (request: LockRequest) => {
      outcome.won = await elections.campaign({ ...request, value });
      return outcome.won?.lease ?? null;
    };
    options.signal?.throwIfAborted();
    const at = this.#keyOf(name);
    const { gate, backend } = this.#connection;
    await gate.acquire(
      {
        ask,
        key: name,
        at,
        identity: backend.identify(at),
        scope: elections,
        kind: 'leader',
        mode: 'exclusive',
        line: 'fifo',
        waitMs: options.waitMs,
        localLine: false,
        keepMs: 0,
      },
      { ...options, leftMs: options.waitMs, isHandle: true },
    );
    return outcome.won ?? unreachable();
  }

  /** @throws as `Elections.look` */
  async look(name: string, signal: AbortSignal): Promise<Sighting> {
    return this.#elections().look(this.#keyOf(name), signal, name);
  }

  #keyOf(name: string, usedBy?: string): string {
    return this.#connection.names.keyOf({ kind: 'election', name, usedBy });
  }

  #elections(): Elections {
    const { elections, name } = this.#connection.backend;
    if (elections) return elections;
    throw new LockConfigurationError(`the backend "${name}" holds no elections`);
  }
}

function unreachable(): never {
  throw new Error('a lease was granted that nobody asked for');
}
