import { onAbort } from '../async/abort.js';
import { deferred } from '../async/deferred.js';
import type { Deferred } from '../async/deferred.js';
import type { Contender as ContenderInfo } from '../contract/contender.js';
import { LockShutdownError } from '../contract/errors.js';
import { fencingTokenOf } from '../contract/fencing-token.js';
import { GrantedLease } from '../contract/granted-lease.js';
import type { BackendState, LockBackend, LockBackendDefinition } from '../contract/lock-backend.js';
import type { LockRequest } from '../contract/lock-request.js';
import type { RecordStore } from '../contract/record-store.js';
import { MemoryElections } from './memory-elections.js';
import { MemoryRecords } from './memory-records.js';

interface Contender {
  readonly line: string;
  readonly request: LockRequest;
  readonly granted: Deferred<GrantedLease>;
  readonly since: Date;
  lease: GrantedLease | undefined;
}

/**
 * Locks inside one process: the reference that the contract is read from, and the backend of unit tests.
 * It excludes nobody in another process.
 */
export class MemoryBackend implements LockBackend {
  readonly name = 'memory';
  readonly state: BackendState = 'connected';
  readonly records: RecordStore = new MemoryRecords();
  readonly elections = new MemoryElections((request, line) => this.#standIn(line, request));
  readonly #lines = new Map<string, Contender[]>();
  #tokens = 0n;
  #closed = false;

  identify(key: string): string {
    return key;
  }

  async connect(): Promise<void> {}

  async acquire(request: LockRequest): Promise<GrantedLease | null> {
    return this.#standIn(request.key, request);
  }

  /** Every lease and every contender of the key, in line order: what a test wants to look at. */
  contenders(key: string): readonly LockRequest[] {
    return (this.#lines.get(key) ?? []).map((contender) => contender.request);
  }

  /** The lease that currently stands on the key, if any. */
  leaseOn(key: string): GrantedLease | undefined {
    return this.#lines.get(key)?.find((contender) => contender.lease)?.lease;
  }

  async lineOf(key: string): Promise<readonly ContenderInfo[]> {
    return (this.#lines.get(key) ?? []).map(({ request, lease, since }) => ({
      state: lease ? 'held' : 'waiting',
      mode: request.mode,
      owner: { pid: process.pid, label: request.label },
      since,
      isOwn: true,
      isLocal: false,
      isKept: false,
    }));
  }

  async close(): Promise<void> {
    this.#closed = true;
    for (const contender of [...this.#lines.values()].flat()) {
      contender.granted.reject(new LockShutdownError(contender.request.key));
      contender.lease?.lose(new LockShutdownError(contender.request.key));
    }
    this.#lines.clear();
  }

  async #standIn(line: string, request: LockRequest): Promise<GrantedLease | null> {
    request.signal.throwIfAborted();
    if (this.#closed) throw new LockShutdownError(request.key);
    const contender: Contender = { line, request, granted: deferred(), since: new Date(), lease: undefined };
    this.#lineOf(line).push(contender);
    this.#grantTurns(line);
    if (!request.wait && !contender.lease) {
      this.#leave(contender);
      return null;
    }
    return this.#untilGranted(contender);
  }

  async #untilGranted(contender: Contender): Promise<GrantedLease> {
    const dispose = onAbort(contender.request.signal, (reason) => {
      if (contender.lease) return;
      this.#leave(contender);
      contender.granted.reject(reason);
    });
    return contender.granted.promise.finally(dispose);
  }

  #lineOf(key: string): Contender[] {
    const line = this.#lines.get(key) ?? [];
    this.#lines.set(key, line);
    return line;
  }

  #grantTurns(key: string): void {
    const line = this.#lineOf(key);
    for (const [place, contender] of line.entries()) {
      if (contender.lease) continue;
      const ahead = line.slice(0, place);
      const blocked =
        contender.request.mode === 'read' ? ahead.some((other) => other.request.mode !== 'read') : place > 0;
      if (blocked) return;
      this.#grant(contender);
    }
  }

  #grant(contender: Contender): void {
    const { key, mode } = contender.request;
    contender.lease = new GrantedLease({
      key,
      mode,
      fencingToken: fencingTokenOf(++this.#tokens),
      isCurrent: () => true,
      giveBack: async () => this.#leave(contender),
    });
    contender.granted.resolve(contender.lease);
  }

  #leave(contender: Contender): void {
    const line = this.#lines.get(contender.line);
    const place = line?.indexOf(contender) ?? -1;
    if (!line || place < 0) return;
    line.splice(place, 1);
    if (line.length === 0) this.#lines.delete(contender.line);
    else this.#grantTurns(contender.line);
  }
}

export function memory(): LockBackendDefinition {
  return { name: 'memory', create: () => new MemoryBackend() };
}
