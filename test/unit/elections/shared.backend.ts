import type { LockBackend, LockBackendDefinition } from '../../../lib/contract/lock-backend.js';
import { MemoryBackend } from '../../../lib/memory/memory.backend.js';
import { electionLine } from '../../../lib/memory/memory-elections.js';
import type { GrantedLease } from '../../../lib/contract/granted-lease.js';

class OpenMemory extends MemoryBackend {
  /** The candidates of an election of the service `test`, the leader first. */
  candidatesOf(election: string) {
    return this.standingIn(electionLine(`test/${election}`)).map(({ contender }) => contender);
  }
}

/** A memory backend that several applications share, as processes share one ensemble. */
export class SharedBackend {
  readonly memory = new OpenMemory();

  /** The definition of one application's connection. Closing it leaves the others connected. */
  get definition(): LockBackendDefinition {
    return { name: 'shared memory', create: () => this.connection() };
  }

  connection(): LockBackend {
    const { memory } = this;
    return {
      name: 'shared memory',
      state: 'connected',
      records: memory.records,
      elections: memory.elections,
      identify: (key) => memory.identify(key),
      connect: () => memory.connect(),
      acquire: (request) => memory.acquire(request),
      lineOf: (key) => memory.lineOf(key),
      close: async () => {},
    };
  }

  /** The current leadership in an election of the service `test`. */
  leaseOn(election: string): GrantedLease | undefined {
    return this.memory.candidatesOf(election).find(({ lease }) => lease)?.lease;
  }

  /** The number of candidates in the election, the leader included. */
  standing(election: string): number {
    return this.memory.candidatesOf(election).length;
  }
}
