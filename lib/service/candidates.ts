import type { Elections, Sighting, WonElection } from '../contract/elections.js';
import { LockConfigurationError } from '../contract/errors.js';
import type { LockBackend } from '../contract/lock-backend.js';
import type { LockRequest } from '../contract/lock-request.js';
import type { AcquisitionOptions } from './acquisition.js';
import type { Admission } from './admission.js';
import type { Keys } from './keys.js';

/** How somebody campaigns. */
export interface Candidature extends Pick<AcquisitionOptions, 'waitMs' | 'signal' | 'label'> {
  /** What it proclaims when it is elected. */
  readonly value: string | undefined;
}

/** Those who campaign on one connection: they wait, are drained and shut down as all who acquire a lock. */
export class Candidates {
  readonly #backend: LockBackend;
  readonly #keys: Keys;
  readonly #admission: Admission;

  constructor(backend: LockBackend, keys: Keys, admission: Admission) {
    this.#backend = backend;
    this.#keys = keys;
    this.#admission = admission;
  }

  /** @throws LockConfigurationError when the backend holds no elections, or none of this name */
  check(name: string): void {
    this.#elections();
    this.#keys.identify(name);
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
    await this.#admission.acquire(
      {
        ask,
        key: name,
        identity: this.#keys.identify(name),
        scope: elections,
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
  look(name: string, signal: AbortSignal): Promise<Sighting> {
    return this.#elections().look(name, signal);
  }

  #elections(): Elections {
    const { elections, name } = this.#backend;
    if (elections) return elections;
    throw new LockConfigurationError(`the backend "${name}" holds no elections`);
  }
}

function unreachable(): never {
  throw new Error('a lease was granted that nobody asked for');
}
