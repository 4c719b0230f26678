import { expect, onTestFinished } from 'vitest';
import type { GrantedLease } from '../../../lib/contract/granted-lease.js';
import type { LockBackend } from '../../../lib/contract/lock-backend.js';
import { AcquisitionGate } from '../../../lib/service/acquisition-gate.js';
import type { AcquisitionOptions } from '../../../lib/service/acquisition-gate.js';
import type { LockTarget } from '../../../lib/service/lock-targets.js';
import { ScriptedBackend } from './scripted.backend.js';

export interface CallOptions extends Partial<AcquisitionOptions> {
  readonly key?: string;
  readonly mode?: LockTarget['mode'];
  readonly keepMs?: number;
}

/** The callers of one process in front of a backend, and all of their outcomes, in order. */
export class Callers<Backend extends LockBackend> {
  readonly admission: AcquisitionGate;
  /** `name: granted`, `name: null`, or `name:` and the reason of the rejection. */
  readonly told: string[] = [];
  readonly leases = new Map<string, GrantedLease>();

  constructor(readonly backend: Backend) {
    this.admission = new AcquisitionGate(backend);
    onTestFinished(() => this.admission.stopWaiting(0));
  }

  /** Acquires, and records the outcome under that name. */
  ask(name: string, options: CallOptions = {}): Promise<GrantedLease | null> {
    const asked = this.acquire(options);
    asked.then(
      (lease) => {
        if (lease) this.leases.set(name, lease);
        this.told.push(`${name}: ${lease ? 'granted' : 'null'}`);
      },
      (error: unknown) => void this.told.push(`${name}: ${String(error)}`),
    );
    return asked;
  }

  async acquire(options: CallOptions = {}) {
    return this.admission.tryAcquire(this.#targetOf(options), optionsOf(options));
  }

  /** Acquires, and releases in the very step in which the caller learns of its lease. */
  async pass(options: CallOptions = {}): Promise<void> {
    await this.admission.acquire(this.#targetOf(options), optionsOf(options)).then((lease) => lease.release());
  }

  #targetOf({ key = 'k', mode = 'exclusive', keepMs = 0 }: CallOptions): LockTarget {
    const scope = this.backend;
    const identity = this.backend.identify(key);
    return { scope, identity, key, mode, keepMs, line: 'fifo', waitMs: Infinity, localLine: true };
  }

  /** The lease of a caller that was granted one. */
  lease(name: string): GrantedLease {
    const lease = this.leases.get(name);
    if (!lease) throw new Error(`${name} was not granted; told: ${this.told.join(', ')}`);
    return lease;
  }

  /** Whether no state of a key is left. */
  forgot(key = 'k'): boolean {
    const modes = ['exclusive', 'read', 'write'] as const;
    return modes.every((mode) => this.admission.local.find(mode, this.backend.identify(key)) === undefined);
  }
}

/** Callers in front of a backend that the test controls. */
export function startCallers(): Callers<ScriptedBackend> {
  return new Callers(new ScriptedBackend());
}

/** More than a process hands over in one turn of the event loop. */
export const MANY = 300;

/** Makes one key warm, which can be acquired and released any number of times in this turn. */
export async function whileOneIsKept(): Promise<Callers<ScriptedBackend>> {
  const callers = startCallers();
  void callers.ask('keeper', { key: 'kept', keepMs: 60_000 });
  await settled();
  callers.backend.last.grant();
  await settled();
  await callers.lease('keeper').release();
  return callers;
}

/** From now on, every hand-over waits for the next turn. */
export async function untilTurnIsLong({ admission, backend }: Callers<ScriptedBackend>): Promise<void> {
  const target = {
    key: 'kept',
    identity: backend.identify('kept'),
    mode: 'exclusive',
    line: 'fifo',
    keepMs: 60_000,
  } as const;
  for (let time = 0; time < MANY; time++) await admission.local.takeNow(target)?.release();
  expect(admission.local.takeNow(target)).toBeUndefined();
}

/** Resolves when everything has happened that only waits for its turn. */
export async function settled(): Promise<void> {
  for (let turn = 0; turn < 3; turn++) await new Promise(setImmediate);
}

function optionsOf({ waitMs = Infinity, signal, label }: CallOptions): AcquisitionOptions {
  return { waitMs, leftMs: waitMs, signal, label, isHandle: true };
}
