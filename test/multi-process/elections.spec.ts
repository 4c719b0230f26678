import { describe, expect, inject, it } from 'vitest';
import { freshBasePath } from '../support/base-path.js';
import { openCandidate } from '../support/candidates.js';
import { startWorker } from './start-worker.js';

const connectString = inject('zookeeper');
// Long enough that the other process reports its term before its session ends, also on a busy machine.
const SESSION_MS = 2_000;

async function ledElsewhere() {
  const basePath = freshBasePath();
  const leader = startWorker('candidate', { connectString, basePath, sessionTimeoutMs: SESSION_MS });
  const { token } = await leader.next();
  const elections = await openCandidate({ connectString, basePath });
  return { leader, elections, token: BigInt(String(token)) };
}

describe('an election won by another process', () => {
  it('gets a new leader soon after that process is killed, and observers see it', async () => {
    const { leader, elections, token } = await ledElsewhere();
    const leaders = elections.observe('poller');
    expect(await leaders.next()).toMatchObject({ value: { value: 'worker', fencingToken: token, isOwn: false } });
    const waiting = elections.campaign('poller', { value: 'heir' });

    leader.signal('SIGKILL');

    const term = await waiting;
    expect(term.fencingToken).toBeGreaterThan(token);
    expect(await leaders.next()).toMatchObject({ value: { value: 'heir', isOwn: true } });
    await leaders.return?.();
  });

  it('is known to be lost by a process that was stopped for too long', async () => {
    const { leader, elections, token } = await ledElsewhere();
    expect(await leader.ask({})).toEqual({ isHeld: true });

    leader.signal('SIGSTOP');
    const term = await elections.campaign('poller');
    const said = leader.next();
    leader.signal('SIGCONT');

    expect(await said).toEqual({ lost: expect.stringContaining('LockLostError') });
    expect(await leader.ask({})).toEqual({ isHeld: false });
    expect(term.isHeld()).toBe(true);
    expect(term.fencingToken).toBeGreaterThan(token);
  });
});
