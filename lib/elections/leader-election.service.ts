import { anyAbort, NEVER } from '../async/abort.js';
import { backoff, pause } from '../async/timer.js';
import { checkFields, checkSignal } from '../contract/check.js';
import type { Leader, Sighting, Term } from '../contract/elections.js';
import { LockShutdownError, LockUnavailableError } from '../contract/errors.js';
import { connectionToken, DEFAULT_CONNECTION } from '../service/connection-token.js';
import type { LockService } from '../service/lock.service.js';
import { resolveCampaignOptions } from './campaign.options.js';
import type { CampaignOptions } from './campaign.options.js';
import { Leaderships } from './leaderships.js';

/** The options of `observe`. */
export interface ObserveOptions {
  /** Ends the observation: the iteration rejects with `signal.reason`. */
  readonly signal?: AbortSignal | undefined;
}

/**
 * Elections by name, of the module's `service` and on one connection. Of all candidates for a name, in all processes,
 * one leads at a time. A name that begins with `/` is a path, where candidates of other services and of Apache
 * Curator's LeaderLatch count as well.
 *
 * A leader that is cut off from the servers continues to lead while its session lasts. Its term is `suspended`, then
 * `held` again, and no other candidate is elected. When its session is lost, or may be, the term is `lost` before
 * another candidate is elected.
 */
export class LeaderElectionService {
  // No #private members here: Nest may be configured to wrap its providers in a Proxy, which has none.
  private readonly leaderships: Leaderships;
  private readonly closing = new AbortController();

  constructor(locks: LockService) {
    this.leaderships = new Leaderships(locks);
  }

  /**
   * Campaigns, and resolves once elected. Candidates are elected in the order in which they came. A candidate whose
   * session is lost campaigns again by itself, at the end of the wait queue. A term that is lost is over: the caller
   * decides whether to campaign again. Methods with `@LeaderOnly` do not need this: their application campaigns by
   * itself.
   * @throws `signal.reason`, LockTimeoutError when another candidate led for all of `waitMs`, LockUnavailableError,
   *   LockShutdownError, LockConfigurationError
   */
  async campaign(name: string, options: CampaignOptions = {}): Promise<Term> {
    return this.leaderships.terms.stand(name, resolveCampaignOptions(options));
  }

  /**
   * Returns the leader as the servers had it a moment ago; `null` when there is no candidate.
   * @throws LockUnavailableError, LockConfigurationError
   */
  async leader(name: string): Promise<Leader | null> {
    const { leader } = await this.leaderships.elections.look(name, NEVER);
    return leader;
  }

  /**
   * Yields the current leader (`null`: none). Yields again each time another candidate leads, or the leader proclaims
   * something else or has published since when it leads. A leader that came and went while the loop was busy is left
   * out. The observation continues through lost connections and sessions. Leaving the loop, or `signal`, ends it and
   * removes all watches.
   * @throws `signal.reason`, LockShutdownError, LockConfigurationError; LockUnavailableError before the first leader
   */
  observe(name: string, options: ObserveOptions = {}): AsyncIterableIterator<Leader | null> {
    checkFields('observe options', options, ['signal']);
    const { signal } = options;
    checkSignal(signal);
    this.leaderships.elections.check(name);
    return this.observing(name, signal);
  }

  /** Returns the term that this application holds in the election, if it leads. Needs no round trip. */
  term(name: string): Term | undefined {
    const ofOwn = this.leaderships.find(name)?.term;
    return ofOwn ?? this.leaderships.terms.of(name).find((term) => term.isHeld());
  }

  /**
   * Resigns where this application leads; the next candidate is elected. Runs of methods with `@LeaderOnly` may end
   * first. Then the application campaigns again, at the end of the wait queue. Does nothing where it does not lead.
   */
  async resign(name: string): Promise<void> {
    const ofOwn = this.leaderships.find(name);
    const others = ofOwn?.term ? [] : this.leaderships.terms.of(name);
    await Promise.all([ofOwn?.resign(), ...others.map((term) => term.resign())]);
  }

  /** @internal Called when the application has started: it campaigns for its methods with `@LeaderOnly`. */
  start(): void {
    this.leaderships.start();
  }

  /** @internal Work under a term may end; `LockService` decides how long it may take. */
  beforeApplicationShutdown(): void {
    this.closing.abort(new LockShutdownError());
    this.leaderships.stop();
  }

  private async *observing(name: string, signal: AbortSignal | undefined): AsyncGenerator<Leader | null, void> {
    const limits = anyAbort([signal, this.closing.signal]);
    try {
      limits.signal.throwIfAborted();
      yield* observation(() => this.leaderships.elections.look(name, limits.signal), limits.signal);
    } finally {
      limits.dispose();
    }
  }
}

/**
 * The injection token of the `LeaderElectionService` of a connection. For the default connection it is the class
 * itself. For the others it is a symbol that is the same for the same name.
 */
export function getLeaderElectionToken(name: string = DEFAULT_CONNECTION): typeof LeaderElectionService | symbol {
  return name === DEFAULT_CONNECTION ? LeaderElectionService : connectionToken('LeaderElectionService', name);
}

const FIRST_PAUSE_MS = 100;
const LONGEST_PAUSE_MS = 5_000;

/**
 * Yields the current leader, then each next one, and each change of what the leader proclaims. Changes that came and
 * went between two looks are left out: the latest counts.
 * @param look rejects with `signal.reason`, and leaves no watch
 */
async function* observation(
  look: () => Promise<Sighting>,
  signal: AbortSignal,
): AsyncGenerator<Leader | null, void, undefined> {
  let sighting = await look();
  for (;;) {
    const { leader } = sighting;
    yield leader;
    signal.throwIfAborted();
    do sighting = await next(sighting, look, signal);
    while (isSame(leader, sighting.leader));
  }
}

/**
 * Returns the sighting after a change. While the servers are out of reach it retries: nothing is known to have changed.
 */
async function next({ changed }: Sighting, look: () => Promise<Sighting>, signal: AbortSignal): Promise<Sighting> {
  const pauses = backoff(FIRST_PAUSE_MS, LONGEST_PAUSE_MS);
  for (;;) {
    try {
      await changed(signal);
      return await look();
    } catch (error) {
      if (!(error instanceof LockUnavailableError) || signal.aborted) throw error;
    }
    await pause(pauses.next(), signal);
  }
}

function isSame(one: Leader | null, other: Leader | null): boolean {
  if (one === null || other === null) return one === other;
  // The start of other kinds of clients may not be known: it is not a number then.
  const isSameTerm = one.fencingToken === other.fencingToken && Object.is(one.since.getTime(), other.since.getTime());
  return isSameTerm && one.value === other.value;
}
