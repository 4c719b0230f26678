import { onAbort, orAbort } from '../async/abort.js';
import { limited } from '../async/limited.js';
import { deferred } from '../async/deferred.js';
import type { Deferred } from '../async/deferred.js';
import type { Contender as ContenderInfo } from '../contract/contender.js';
import type { CoordinationBackend } from '../contract/coordination-backend.js';
import { LockLostError, LockShutdownError } from '../contract/errors.js';
import { fencingTokenOf } from '../contract/fencing-token.js';
import { GrantedLease } from '../contract/granted-lease.js';
import { grantAll } from '../contract/granted-set.js';
import type { BackendState, LockBackend, LockBackendDefinition } from '../contract/lock-backend.js';
import type { LockRequest } from '../contract/lock-request.js';
import type { RecordStore } from '../contract/record-store.js';
import type { ResolvedRevokeOptions } from '../contract/revoke.options.js';
import { MemoryCoordination } from './memory-coordination.js';
import { MemoryPermits } from './memory-permits.js';
import { MemoryRecords } from './memory-records.js';

interface Contender {
  request: LockRequest;
  readonly granted: Deferred<GrantedLease>;
  readonly since: Date;
  lease: GrantedLease | undefined;
}

/**
 * Locks inside one process: the reference that the contract is read from, and the backend of unit tests.
 * It excludes nobody in another process.
 */
export class MemoryBackend implements LockBackend {
  readonly name: string = 'memory';
  readonly records: RecordStore = new MemoryRecords();
  readonly coordination: CoordinationBackend = new MemoryCoordination();
  readonly permitCounts = new MemoryPermits(() => [...this.#lines.values()].forEach((line) => this.#grantTurns(line)));
  /** By key; permits stand in lines of their own. */
  readonly #lines = new Map<string, Contender[]>();
  #tokens = 0n;
  #closed = false;

  get state(): BackendState {
    return 'connected';
  }

  identify(key: string): string {
    return key;
  }

  async connect(): Promise<void> {}

  async acquire(request: LockRequest): Promise<GrantedLease | null> {
    request.signal.throwIfAborted();
    if (this.#closed) throw new LockShutdownError(request.key);
    const contender: Contender = { request, granted: deferred(), since: new Date(), lease: undefined };
    const line = this.#lineOf(request);
    line.push(contender);
    this.#grantTurns(line);
    if (!request.wait && !contender.lease) {
      this.#leave(contender);
      return null;
    }
    return this.#untilGranted(contender);
  }

  async acquireAll(requests: readonly LockRequest[]): Promise<readonly GrantedLease[] | null> {
    const broken = new Error('one of the leases was lost, or asked for, before the others were there');
    // Each stands in its line when the call returns; nobody comes between.
    const granted = grantAll(requests, this.acquire.bind(this), () => broken);
    return granted.catch((error: unknown) => (error === broken ? this.acquireAll(requests) : Promise.reject(error)));
  }

  /** Every lease and every contender of the key, in line order: what a test wants to look at. */
  contenders(key: string): readonly LockRequest[] {
    return this.#standingOn(key).map((contender) => contender.request);
  }

  /** The leases that stand on the key, several when they are readers' or permits, each with what was asked for. */
  leasesOn(key: string): readonly { readonly request: LockRequest; readonly lease: GrantedLease }[] {
    return this.#standingOn(key).flatMap(({ request, lease }) => (lease ? [{ request, lease }] : []));
  }

  /** The lease that currently stands on the key, if any. */
  leaseOn(key: string): GrantedLease | undefined {
    return this.leasesOn(key)[0]?.lease;
  }

  async lineOf(key: string): Promise<readonly ContenderInfo[]> {
    return this.#standingOn(key).map(({ request, lease, since }) => ({
      state: lease ? 'held' : 'waiting',
      mode: request.mode,
      permits: request.permits?.count,
      owner: { pid: process.pid, label: request.label },
      since,
      isOwn: true,
      isLocal: false,
      isKept: false,
    }));
  }

  async revoke(key: string, { graceMs, signal }: ResolvedRevokeOptions): Promise<void> {
    signal?.throwIfAborted();
    const holders = this.#standingOn(key).flatMap((contender) => {
      return contender.lease ? [{ contender, lease: contender.lease }] : [];
    });
    holders.forEach(({ lease }) => lease.revoke());
    const given = Promise.all(holders.map(({ lease }) => lease.released));
    if (await limited(graceMs, signal, (limit) => orAbort(given, limit))) return;
    for (const { contender, lease } of holders) {
      lease.lose(new LockLostError(key, 'it was revoked, and not given back in time'));
      this.#leave(contender);
    }
  }

  async close(): Promise<void> {
    this.#closed = true;
    for (const contender of [...this.#lines.values()].flat()) {
      contender.granted.reject(new LockShutdownError(contender.request.key));
      contender.lease?.lose(new LockShutdownError(contender.request.key));
    }
    this.#lines.clear();
  }

  async #untilGranted(contender: Contender): Promise<GrantedLease> {
    const dispose = onAbort(contender.request.signal, (reason) => {
      if (contender.lease) return;
      this.#leave(contender);
      contender.granted.reject(reason);
    });
    return contender.granted.promise.finally(dispose);
  }

  #standingOn(key: string): readonly Contender[] {
    const identity = this.identify(key);
    return [...(this.#lines.get(identity) ?? []), ...(this.#lines.get(permitLine(identity)) ?? [])];
  }

  #lineOf(request: LockRequest): Contender[] {
    const name = this.#lineName(request);
    const line = this.#lines.get(name) ?? [];
    this.#lines.set(name, line);
    return line;
  }

  #grantTurns(line: readonly Contender[]): void {
    for (const [place, contender] of line.entries()) {
      if (contender.lease) continue;
      if (this.#isBlocked(contender.request, line.slice(0, place))) return;
      this.#grant(contender);
    }
  }

  #isBlocked({ key, mode, permits }: LockRequest, ahead: readonly Contender[]): boolean {
    if (!permits) return mode === 'read' ? ahead.some((other) => other.request.mode !== 'read') : ahead.length > 0;
    const taken = ahead.reduce((sum, { request }) => sum + (request.permits?.count ?? 0), 0);
    return taken + permits.count > this.permitCounts.mostOf(key, permits.of);
  }

  #grant(contender: Contender): void {
    const { key } = contender.request;
    contender.lease = new GrantedLease({
      key,
      get mode() {
        return contender.request.mode;
      },
      fencingToken: fencingTokenOf(++this.#tokens),
      isCurrent: () => true,
      giveBack: async () => this.#leave(contender),
      downgrade: async () => this.#downgrade(contender),
    });
    contender.granted.resolve(contender.lease);
  }

  #downgrade(contender: Contender): void {
    contender.request = { ...contender.request, mode: 'read' };
    this.#grantTurns(this.#lineOf(contender.request));
  }

  #leave(contender: Contender): void {
    const name = this.#lineName(contender.request);
    const line = this.#lines.get(name);
    const place = line?.indexOf(contender) ?? -1;
    if (!line || place < 0) return;
    line.splice(place, 1);
    if (line.length === 0) this.#lines.delete(name);
    else this.#grantTurns(line);
  }

  #lineName({ key, permits }: LockRequest): string {
    const identity = this.identify(key);
    return permits ? permitLine(identity) : identity;
  }
}

// No key ends like this.
function permitLine(identity: string): string {
  return `${identity}/`;
}

export function memory(): LockBackendDefinition {
  return { name: 'memory', create: () => new MemoryBackend() };
}
