import { GrantedLease } from '../../../lib/contract/granted-lease.js';
import type { LockBackend } from '../../../lib/contract/lock-backend.js';
import type { LockUnderTest } from './orders.js';

/** Returns the backend itself, or one with a defect that a run has to detect. */
export function withDefect(defect: LockUnderTest, backend: LockBackend): LockBackend {
  switch (defect) {
    case 'real':
      return backend;
    case 'everybody':
      return everybody(backend);
    case 'deaf':
      return deaf(backend);
    case 'forgetful':
      return forgetful(backend);
  }
}

/** Grants every request for a key at once. */
function everybody(backend: LockBackend): LockBackend {
  return planted(backend, async ({ key, mode }) => lease(key, mode, 1n, async () => {}));
}

/** Never notices that a lease was lost. */
function deaf(backend: LockBackend): LockBackend {
  return planted(backend, async (request) => {
    const real = await backend.acquire(request);
    return real && lease(request.key, request.mode, real.fencingToken, () => real.release());
  });
}

/** Does not release one lease in ten. */
function forgetful(backend: LockBackend): LockBackend {
  let count = 0;
  return planted(backend, async (request) => {
    const real = await backend.acquire(request);
    const giveBack = ++count % 10 === 0 ? async () => {} : () => real?.release() ?? Promise.resolve();
    return real && lease(request.key, request.mode, real.fencingToken, giveBack);
  });
}

function lease(key: string, mode: GrantedLease['mode'], fencingToken: bigint, giveBack: () => Promise<void>) {
  return new GrantedLease({ key, mode, fencingToken, isCurrent: () => true, giveBack });
}

function planted(backend: LockBackend, acquire: LockBackend['acquire']): LockBackend {
  return {
    name: backend.name,
    get state() {
      return backend.state;
    },
    records: backend.records,
    identify: (key) => backend.identify(key),
    connect: () => backend.connect(),
    close: () => backend.close(),
    lineOf: (key) => backend.lineOf(key),
    acquire,
  };
}
