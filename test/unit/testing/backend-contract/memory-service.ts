import { anyAbort } from '../../../../lib/async/abort.js';
import { LockShutdownError } from '../../../../lib/contract/errors.js';
import type { Contender } from '../../../../lib/contract/contender.js';
import type { Elections } from '../../../../lib/contract/elections.js';
import type { GrantedLease } from '../../../../lib/contract/granted-lease.js';
import type { BackendState, LockBackend } from '../../../../lib/contract/lock-backend.js';
import type { LockRequest } from '../../../../lib/contract/lock-request.js';
import type { ResolvedRevokeOptions } from '../../../../lib/contract/revoke.options.js';
import { MemoryBackend } from '../../../../lib/memory/memory.backend.js';

/** One client of a shared service. Its locks and records are visible to the others. Closing it ends only its own. */
export class MemoryClient implements LockBackend {
  readonly name = 'client of memory';
  readonly records;
  readonly permitCounts;
  readonly coordination;
  readonly elections: Elections;
  protected readonly leases = new Set<GrantedLease>();
  readonly #closing = new AbortController();
  readonly #requests = new WeakSet<LockRequest>();

  constructor(protected readonly service: MemoryBackend) {
    ({ records: this.records, permitCounts: this.permitCounts, coordination: this.coordination } = service);
    this.elections = {
      campaign: async (request) => {
        const won = await service.elections.campaign(request);
        if (won) this.leases.add(won.lease);
        return won;
      },
      look: async (name, signal) => {
        const sighting = await service.elections.look(name, signal);
        const { leader } = sighting;
        const isOwn = [...this.leases].some(({ fencingToken }) => fencingToken === leader?.fencingToken);
        return { ...sighting, leader: leader && { ...leader, isOwn } };
      },
    };
  }

  get state(): BackendState {
    return 'connected';
  }

  identify(key: string): string {
    return this.service.identify(key);
  }

  async connect(): Promise<void> {}

  async acquire(request: LockRequest): Promise<GrantedLease | null> {
    return this.#until(request, async (limited) => {
      const lease = await this.service.acquire(limited);
      if (lease) this.leases.add(lease);
      return lease;
    });
  }

  async acquireAll(requests: readonly LockRequest[]): Promise<readonly GrantedLease[] | null> {
    const leases = await this.service.acquireAll(requests);
    leases?.forEach((lease) => this.leases.add(lease));
    return leases;
  }

  async lineOf(key: string): Promise<readonly Contender[]> {
    const requests = this.service.contenders(key);
    const line = await this.service.lineOf(key);
    return line.map((contender, place) => ({ ...contender, isOwn: this.#requests.has(requests[place]!) }));
  }

  revoke(key: string, options: ResolvedRevokeOptions): Promise<void> {
    return this.service.revoke(key, options);
  }

  async close(): Promise<void> {
    this.#closing.abort(new LockShutdownError());
    this.leases.forEach((lease) => lease.lose(new LockShutdownError(lease.key)));
    await Promise.all([...this.leases].map((lease) => lease.release()));
  }

  async #until<T>(request: LockRequest, ask: (request: LockRequest) => Promise<T>): Promise<T> {
    const limits = anyAbort([request.signal, this.#closing.signal]);
    const limited = { ...request, signal: limits.signal };
    this.#requests.add(limited);
    return ask(limited).finally(() => limits.dispose());
  }
}
