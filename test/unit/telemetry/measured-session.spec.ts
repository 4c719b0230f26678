import { describe, expect, it, onTestFinished, vi } from 'vitest';
import type { SessionEvent } from '../../../lib/contract/channels.js';
import type { BackendState } from '../../../lib/contract/lock-backend.js';
import type { LockConnection } from '../../../lib/service/lock-connection.js';
import { MeasuredSession } from '../../../lib/telemetry/measured-session.js';
import { METRICS } from '../../../lib/telemetry/metric-table.js';

const clock = vi.hoisted(() => ({ now: 0 }));

vi.mock('../../../lib/async/clock.js', async (original) => ({
  ...(await original<object>()),
  now: () => clock.now,
}));

/** The measured session of a connection with shards, whose state is the worst of theirs. */
function measured() {
  let suspended = 0;
  const backend = { state: 'connected' as BackendState };
  const connection = { backend, origin: { connection: 'main' }, gate: { counts: { held: 0 } } };
  const session = new MeasuredSession(connection as unknown as LockConnection, {
    counter: (metric) => ({ add: (by) => void (suspended += metric === METRICS.sessionSuspended ? by : 0) }),
    histogram: () => ({ record() {} }),
  });
  onTestFinished(() => session.stop());
  const changed = (state: string, before: string | undefined, ofAll: BackendState) => {
    backend.state = ofAll;
    session.changed({ state, before } as SessionEvent);
  };
  return { changed, seconds: () => (session.proceed(), suspended) };
}

describe('the time without a server', () => {
  it('ends with the session of the last shard, not of another one', () => {
    const { changed, seconds } = measured();
    changed('suspended', 'connected', 'suspended');
    clock.now += 1_000;
    changed('suspended', 'connected', 'suspended');
    clock.now += 1_000;
    changed('connected', 'suspended', 'suspended');
    clock.now += 1_000;
    expect(seconds()).toBe(3);
    changed('connected', 'suspended', 'connected');
    clock.now += 1_000;
    expect(seconds()).toBe(3);
  });

  it('does not begin before the first connection, and ends when the application closes it', () => {
    const { changed, seconds } = measured();
    changed('connected', undefined, 'suspended');
    clock.now += 1_000;
    expect(seconds()).toBe(0);
    changed('lost', 'connected', 'lost');
    clock.now += 1_000;
    changed('closed', 'lost', 'lost');
    clock.now += 1_000;
    expect(seconds()).toBe(1);
  });
});
