import { nameOf } from 'nestjs-distributed-lock';
import type { GrantedLease, LockBackend, LockBackendDefinition, LockRequest } from 'nestjs-distributed-lock';
import { tellConductor } from './lock-report.js';

/** A backend that does what another one does, and reports requests, leases and releases to the conductor. */
export function watched(definition: LockBackendDefinition): LockBackendDefinition {
  return { name: definition.name, create: () => reporting(definition.create()) };
}

function reporting(inner: LockBackend): LockBackend {
  const acquireAll = inner.acquireAll?.bind(inner);
  const reported: Pick<LockBackend, 'acquire' | 'acquireAll'> = {
    acquire: async (request) => {
      const leases = await reportedly([request], async () => {
        const lease = await inner.acquire(request);
        return lease && [lease];
      });
      return leases?.[0] ?? null;
    },
    acquireAll: acquireAll && ((requests) => reportedly(requests, () => acquireAll(requests))),
  };
  return new Proxy(inner, {
    get(_, name) {
      const member: unknown = Reflect.get(name in reported ? reported : inner, name);
      return typeof member === 'function' ? member.bind(inner) : member;
    },
  });
}

/** Reports an acquisition of one key or of several, and their releases. */
async function reportedly(
  requests: readonly LockRequest[],
  acquire: () => Promise<readonly GrantedLease[] | null>,
): Promise<readonly GrantedLease[] | null> {
  const wanted = requests.map((request) => ({ key: nameOf(request), mode: request.mode }));
  for (const { key } of wanted) tellConductor({ kind: 'asks', key });
  let leases: readonly GrantedLease[] | null = null;
  try {
    leases = await acquire();
  } finally {
    if (!leases) for (const { key } of wanted) tellConductor({ kind: 'refused', key });
  }
  leases?.forEach((lease, at) => {
    const granted = { ...wanted[at]!, token: String(lease.fencingToken) };
    tellConductor({ kind: 'holds', ...granted });
    void lease.released.then(() => tellConductor({ kind: 'leaves', ...granted }));
  });
  return leases;
}
