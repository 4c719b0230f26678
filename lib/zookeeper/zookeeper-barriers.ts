import type { Barriers, EnteredMember, EnterRequest, PassRequest } from '../contract/barriers.js';
import { nameOf } from '../contract/keyed-request.js';
import { LockLostError } from '../contract/errors.js';
import { SessionCalls } from './across-sessions.js';
import type { Call } from './across-sessions.js';
import { Lifting, passBarrier, raiseBarrier } from './coordination/barrier.js';
import type { BarrierPlace } from './coordination/barrier.js';
import { enterTogether } from './coordination/double-barrier.js';
import { Leaving } from './coordination/leaving.js';
import { Places } from './places.js';
import type { Contender } from './recipes/contender.js';
import type { LockDirectory } from './recipes/lock-directory.js';
import { PlaceLostError } from './recipes/place-lost-error.js';
import { grantLease } from './recipes/zookeeper-lease.js';
import type { Session } from './session/session.js';
import type { SessionSupervisor } from './session/session-supervisor.js';
import type { ResolvedZooKeeperOptions } from './zookeeper.options.js';

/** Barriers and double barriers as znodes. What was asked of a session that ends is asked of the next one. */
export class ZooKeeperBarriers implements Barriers {
  readonly #calls: SessionCalls;
  readonly #places: Places;

  constructor(sessions: SessionSupervisor, options: ResolvedZooKeeperOptions) {
    this.#calls = new SessionCalls(sessions);
    this.#places = new Places(options);
  }

  async raise(key: string, signal: AbortSignal, name = key): Promise<void> {
    const place = this.#placeOf(key);
    return this.#calls.make({ key, name, wait: false, signal }, (session, limit) =>
      raiseBarrier(session, place, limit),
    );
  }

  async lift(key: string, signal: AbortSignal, name = key): Promise<void> {
    const lifting = new Lifting(this.#placeOf(key));
    return this.#calls.make({ key, name, wait: false, signal }, (session, limit) => lifting.on(session, limit));
  }

  async pass(request: PassRequest): Promise<boolean> {
    const place = this.#placeOf(request.key);
    const { wait } = request;
    return this.#calls.make(request, (session, signal) => passBarrier(session, place, { wait, signal }));
  }

  async enter(request: EnterRequest): Promise<EnteredMember> {
    const directory = this.#places.directory('double-barriers', request.key);
    return this.#calls.make({ ...request, wait: true }, async (session, signal) => {
      const member = await enterTogether(session, directory, { ...request, signal });
      return this.#entered(session, directory, member, request);
    });
  }

  #entered(session: Session, directory: LockDirectory, member: Contender, request: EnterRequest): EnteredMember {
    const key = nameOf(request);
    // The mode of a lease that others hold at the same time.
    const lease = grantLease(session, directory, member, { ...request, mode: 'read', line: 'none', wait: true });
    const leave = async (signal: AbortSignal): Promise<void> => {
      if (!lease.isHeld()) throw isOut(key);
      try {
        await this.#leave(session, new Leaving(directory, member), { key, signal });
      } finally {
        await lease.release();
      }
    };
    return { lease, leave };
  }

  async #leave(own: Session, leaving: Leaving, call: Pick<Call, 'key' | 'signal'>): Promise<void> {
    await this.#calls.make({ ...call, wait: true }, async (session, signal) => {
      if (session !== own && !leaving.isOut) throw isOut(call.key);
      await leaving.on(session, signal).catch((error: unknown) => {
        throw error instanceof PlaceLostError ? isOut(call.key) : error;
      });
    });
  }

  #placeOf(key: string): BarrierPlace {
    return this.#places.node('barriers', key);
  }
}

function isOut(key: string): LockLostError {
  return new LockLostError(key, 'the others were told that this one had left');
}
