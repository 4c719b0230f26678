import { expect, it } from 'vitest';
import type { LockBackend } from '../../../lib/contract/lock-backend.js';
import { BACKEND_CHECKS } from '../../../lib/testing/index.js';
import type { ContractSubject } from '../../../lib/testing/index.js';
import { queuedBackend } from './queued-backend.js';

/**
 * The checks that local queues do not keep to, for as long as a process may keep a key that another one waits for. See
 * docs/guarantees.md.
 */
const DEPARTURES = [
  // A reader joins the readers of its process.
  'readers do not overtake a writer that waits, and then go together',
  // A survey of the backend shows contenders. The service adds the callers behind them.
  'count all contenders of a key, and list the first',
  'show each key that is in use as its own line shows it',
];
const DEPARTURES_IN_ONE_PROCESS = [
  // Its two callers share a contender.
  'take no lock',
];
const DEPARTURES_OF_PROCESSES = [
  // A key is handed over within the process first.
  'serves in the order of arrival',
];

/**
 * Runs the backend contract over the local queues of a backend. The second client of a check has no local queue: callers
 * of another process that share a contender would be shown as one.
 */
export function queuedContract(subject: ContractSubject): void {
  const isLocal = subject.isLocal === true;
  const departures = isLocal
    ? [...DEPARTURES, ...DEPARTURES_IN_ONE_PROCESS]
    : [...DEPARTURES, ...DEPARTURES_OF_PROCESSES];
  let clients = 0;
  const open = async (): Promise<LockBackend> => {
    const backend = await subject.open();
    return isLocal || clients++ % 2 === 0 ? queuedBackend(backend) : backend;
  };

  it('leaves out only checks that there are', () => {
    expect(BACKEND_CHECKS.map(({ title }) => title)).toEqual(expect.arrayContaining(departures));
  });

  it.each(BACKEND_CHECKS.filter(({ title }) => !departures.includes(title)))('$part: $title', async ({ run }) => {
    await expect(run({ ...subject, open })).resolves.toBeUndefined();
  });
}
