import type { Barriers, EnteredMember, EnterRequest, PassRequest } from '../contract/barriers.js';
import { LockLostError } from '../contract/errors.js';
import { fencingTokenOf } from '../contract/fencing-token.js';
import { GrantedLease } from '../contract/granted-lease.js';
import { MemoryCrowd } from './memory-crowd.js';

interface Gathering {
  readonly crowd: MemoryCrowd;
  readonly waiting: Set<object>;
  readonly inside: Set<object>;
}

/** Barriers of one process: the reference that the contract is read from. */
export class MemoryBarriers implements Barriers {
  readonly #up = new Set<string>();
  readonly #atBarriers = new MemoryCrowd();
  readonly #gatherings = new Map<string, Gathering>();
  #tokens = 0n;

  async raise(key: string): Promise<void> {
    this.#up.add(key);
  }

  async lift(key: string): Promise<void> {
    this.#up.delete(key);
    this.#atBarriers.look();
  }

  async pass({ key, wait, signal }: PassRequest): Promise<boolean> {
    if (wait) await this.#atBarriers.until(() => !this.#up.has(key), signal);
    return !this.#up.has(key);
  }

  async enter({ key, name = key, count, signal }: EnterRequest): Promise<EnteredMember> {
    const gathering = this.#gatheringOf(key);
    const { crowd, waiting, inside } = gathering;
    const member = {};
    waiting.add(member);
    if (inside.size > 0 || waiting.size >= count) this.#letIn(gathering);
    await crowd
      .until(() => inside.has(member), signal)
      .catch((error: unknown) => {
        waiting.delete(member);
        // Whom the others have counted is in all the same: they rely on it.
        if (!inside.has(member)) throw error;
      });
    return this.#entered(name, gathering, member);
  }

  #letIn({ crowd, waiting, inside }: Gathering): void {
    waiting.forEach((member) => inside.add(member));
    waiting.clear();
    crowd.look();
  }

  #entered(key: string, { crowd, inside }: Gathering, member: object): EnteredMember {
    const goOut = () => {
      inside.delete(member);
      crowd.look();
    };
    const lease = new GrantedLease({
      key,
      mode: 'read',
      fencingToken: fencingTokenOf(++this.#tokens),
      isCurrent: () => true,
      giveBack: async () => goOut(),
    });
    const leave = async (signal: AbortSignal) => {
      if (!lease.isHeld()) throw new LockLostError(key, 'the others were told that this one had left');
      const others = [...inside].filter((other) => other !== member);
      await lease.release();
      await crowd.until(() => others.every((other) => !inside.has(other)), signal);
    };
    return { lease, leave };
  }

  #gatheringOf(key: string): Gathering {
    const gathering = this.#gatherings.get(key) ?? {
      crowd: new MemoryCrowd(),
      waiting: new Set<object>(),
      inside: new Set<object>(),
    };
    this.#gatherings.set(key, gathering);
    return gathering;
  }
}
