import { describe, expect, it } from 'vitest';
import type { LockBackend } from '../../../lib/contract/lock-backend.js';
import { BACKEND_CHECKS } from '../../../lib/testing/index.js';
import type { ContractSubject } from '../../../lib/testing/index.js';
import { queuedBackend } from './queued-backend.js';

/** Readers of one process may join a standing lease for some more milliseconds: docs/guarantees.md has the bound. */
const DEPARTURE = 'readers do not overtake a writer that waits, and then go together';

/** Runs the backend contract over the local queues of a backend. */
export function queuedContract(subject: ContractSubject): void {
  const open = async (): Promise<LockBackend> => queuedBackend(await subject.open());
  const checks = BACKEND_CHECKS.filter(({ title }) => title !== DEPARTURE);

  it.each(checks)('$part: $title', async ({ run }) => {
    await expect(run({ ...subject, open })).resolves.toBeUndefined();
  });

  describe('the one departure', () => {
    it(`is that they do not keep to: ${DEPARTURE}`, async () => {
      const departure = BACKEND_CHECKS.find(({ title }) => title === DEPARTURE);
      await expect(departure?.run({ ...subject, open })).rejects.toThrow('Expected values to be strictly deep-equal');
    });
  });
}
