import { describe, expect, it } from 'vitest';
import { deferred } from '../../../lib/async/deferred.js';
import { LockLostError } from '../../../lib/contract/errors.js';
import { currentTerm } from '../../../lib/elections/entered-term.js';
import { leadershipsOf } from '../../../lib/elections/leaderships.js';
import { currentLease } from '../../../lib/service/hold-scope.js';
import { eventually } from '../../support/eventually.js';
import { watchLog } from '../../support/log-lines.js';
import { startCandidate } from './candidates.js';
import { SharedBackend } from './shared.backend.js';

const lost = new LockLostError('poller', 'test');

/** An application that campaigns by itself. */
function startApplication(backend: SharedBackend, drainTimeoutMs?: number) {
  const application = startCandidate(backend, drainTimeoutMs);
  const leadership = leadershipsOf(application.locks)?.of('poller') ?? expect.unreachable();
  const log: string[] = [];
  const hook = (when: 'elected' | 'deposed', title: string, call: () => unknown = () => log.push(title), owner = {}) =>
    leadership.hooks.add(when, { title, owner, call });
  const leads = () => eventually(() => leadership.term, 'a term');
  return { ...application, leadership, log, hook, leads };
}

/** Resolves when the application leads and its work is admitted. */
async function untilOpen({ leadership }: Pick<ReturnType<typeof startApplication>, 'leadership'>): Promise<void> {
  await eventually(() => leadership.using(() => true).catch(() => undefined), 'work is admitted');
}

function startTwo() {
  const backend = new SharedBackend();
  const [one, other] = [startApplication(backend), startApplication(backend)];
  return { backend, one, other };
}

describe('work of the leader', () => {
  it('runs where the application leads, under its term, and nowhere else', async () => {
    const { backend, one, other } = startTwo();
    one.elections.start();
    await untilOpen(one);
    other.elections.start();
    await eventually(() => backend.standing('poller') === 2 || undefined, 'two candidates');

    const token = await one.leadership.using(async (lease) => {
      expect(currentLease()).toBe(lease);
      expect(currentTerm()).toBe(lease);
      await lease.release();
      return lease.fencingToken;
    });
    expect(token).toBe(one.leadership.term?.fencingToken);
    expect(currentTerm()).toBeUndefined();
    await expect(other.leadership.using(() => 1)).rejects.toMatchObject({
      name: 'LockNotLeaderError',
      code: 'LOCK_NOT_LEADER',
      status: 503,
      key: 'poller',
    });
  });

  it('is refused with one log line each time the application becomes a follower', async () => {
    const { backend, one, other } = startTwo();
    const log = watchLog();
    const lines = async () => {
      for (let call = 0; call < 3; call++) await other.leadership.using(() => 1).catch(() => {});
      return log.debug.length;
    };
    expect(await lines()).toBe(1);
    other.elections.start();
    await untilOpen(other);
    one.elections.start();
    await eventually(() => backend.standing('poller') === 2 || undefined, 'two candidates');
    expect(await lines()).toBe(1);
    void other.leadership.resign();
    await eventually(async () => (await lines()) === 2 || undefined, 'it follows again');
    expect(await lines()).toBe(2);
    const line = '"poller": does not lead; what only the leader does is left out until it does';
    expect(log.debug).toEqual([[line], [line]]);
    expect(new Set(log.contexts)).toEqual(new Set(['LeaderElection']));
  });

  it('runs nowhere before the application has started', async () => {
    const { one } = startTwo();
    await expect(one.leadership.using(() => 1)).rejects.toMatchObject({ code: 'LOCK_NOT_LEADER' });
  });

  it('is notified when the term is lost, and the call rejects when the work has ended', async () => {
    const { backend, one } = startTwo();
    one.elections.start();
    await untilOpen(one);
    const begun = deferred<AbortSignal>();
    const mayEnd = deferred();
    const running = one.leadership.using(async ({ signal }) => {
      begun.resolve(signal);
      await mayEnd.promise;
    });
    const signal = await begun.promise;
    const ended = expect(running).rejects.toBe(lost);
    backend.leaseOn('poller')?.lose(lost);
    expect(signal.reason).toBe(lost);
    mayEnd.resolve();
    await ended;
  });

  it("yields its result although the term was lost, with onLost: 'ignore'", async () => {
    const { backend, one } = startTwo();
    one.elections.start();
    await untilOpen(one);
    const work = async () => (backend.leaseOn('poller')?.lose(lost), 'result');
    expect(await one.leadership.using(work, { onLost: 'ignore' })).toBe('result');
  });
});

describe('an application', () => {
  it('campaigns again by itself when its term was lost', async () => {
    const { backend, one } = startTwo();
    one.elections.start();
    const { fencingToken } = await one.leads();
    backend.leaseOn('poller')?.lose(lost);
    await untilOpen(one);
    expect(one.leadership.term?.fencingToken).toBeGreaterThan(fencingToken);
  });

  it('hands over when it resigns, once its work has ended, and campaigns again', async () => {
    const { backend, one, other } = startTwo();
    one.elections.start();
    await untilOpen(one);
    other.elections.start();
    await eventually(() => backend.standing('poller') === 2 || undefined, 'two candidates');
    const mayEnd = deferred();
    const running = one.leadership.using(() => mayEnd.promise);
    const resigned = one.elections.resign('poller');
    await expect(one.leadership.using(() => 1)).rejects.toMatchObject({ code: 'LOCK_NOT_LEADER' });
    expect([one.leadership.term?.isHeld(), other.leadership.term]).toEqual([true, undefined]);
    mayEnd.resolve();
    await Promise.all([running, resigned]);
    await untilOpen(other);
    await eventually(() => backend.standing('poller') === 2 || undefined, 'it stands again');
  });

  it('can resign inside its own work without waiting for itself', async () => {
    const { backend, one, other } = startTwo();
    one.elections.start();
    await untilOpen(one);
    other.elections.start();
    await eventually(() => backend.standing('poller') === 2 || undefined, 'two candidates');
    await one.leadership.using(async () => {
      await currentTerm()?.resign();
      await one.elections.resign('poller');
      expect(currentTerm()?.isHeld()).toBe(true);
    });
    await untilOpen(other);
  });

  it('shuts down after its work has ended, including nested calls', async () => {
    const { backend, one, other } = startTwo();
    one.hook('deposed', 'deposed', () => one.log.push(`deposed, held: ${currentTerm()?.isHeld()}`));
    one.elections.start();
    await untilOpen(one);
    const mayGoOn = deferred();
    const running = one.leadership.using(async () => {
      await mayGoOn.promise;
      return one.leadership.using(() => 'nested');
    });
    const closing = one.close();
    await expect(one.leadership.using(() => 1)).rejects.toMatchObject({ code: 'LOCK_NOT_LEADER' });
    expect(backend.leaseOn('poller')?.isHeld()).toBe(true);
    mayGoOn.resolve();
    await closing;
    expect(await running).toBe('nested');
    expect(one.log).toEqual(['deposed, held: true']);
    expect(backend.standing('poller')).toBe(0);
    other.elections.start();
    await untilOpen(other);
  });

  it('loses its term at shutdown when its work takes longer than drainTimeoutMs', async () => {
    const backend = new SharedBackend();
    const one = startApplication(backend, 1);
    one.elections.start();
    await untilOpen(one);
    const begun = deferred<AbortSignal>();
    const mayEnd = deferred();
    const running = one.leadership.using(({ signal }) => (begun.resolve(signal), mayEnd.promise));
    const ended = expect(running).rejects.toMatchObject({ code: 'LOCK_SHUTDOWN' });
    const signal = await begun.promise;
    await one.close();
    expect(signal.reason).toMatchObject({ code: 'LOCK_SHUTDOWN' });
    expect(backend.standing('poller')).toBe(0);
    mayEnd.resolve();
    await ended;
  });
});

describe('the hooks of an election', () => {
  it('are called in order, one at a time, elected before deposed, and work waits for them', async () => {
    const { backend, one } = startTwo();
    const mayEnd = deferred();
    one.hook('elected', 'first', async () => {
      one.log.push(`first ${currentTerm()?.isHeld()}`);
      await mayEnd.promise;
      one.log.push('first ended');
    });
    one.hook('elected', 'second');
    one.hook('deposed', 'third');
    one.hook('deposed', 'fourth');
    one.elections.start();
    await one.leads();
    await expect(one.leadership.using(() => 1)).rejects.toMatchObject({ code: 'LOCK_NOT_LEADER' });
    mayEnd.resolve();
    await untilOpen(one);
    expect(one.log).toEqual(['first true', 'first ended', 'second']);

    backend.leaseOn('poller')?.lose(lost);
    await eventually(() => one.log.length >= 5 || undefined, 'deposed');
    expect(one.log.slice(3, 5)).toEqual(['third', 'fourth']);
  });

  it('do not overlap: deposed hooks wait for elected hooks, even when the term is lost', async () => {
    const { backend, one } = startTwo();
    const begun = deferred();
    const mayEnd = deferred();
    one.hook('elected', 'slow', async () => {
      if (one.log.length > 0) return;
      one.log.push('slow');
      begun.resolve();
      await mayEnd.promise;
      one.log.push('slow ended');
    });
    one.hook('elected', 'not called any more', () => one.log.length < 4 && one.log.push('not called any more'));
    one.hook('deposed', 'deposed');
    one.elections.start();
    await begun.promise;
    backend.leaseOn('poller')?.lose(lost);
    await new Promise((resolve) => setImmediate(resolve));
    expect(one.log).toEqual(['slow']);
    expect(backend.standing('poller')).toBe(0);
    mayEnd.resolve();
    await eventually(() => one.log.length >= 3 || undefined, 'deposed');
    expect(one.log.slice(0, 3)).toEqual(['slow', 'slow ended', 'deposed']);
  });

  it('may fail: the others are called, and the application leads', async () => {
    const { one } = startTwo();
    one.hook('elected', 'failing', () => Promise.reject(new Error('hook')));
    one.hook('elected', 'throwing', () => {
      throw new Error('hook');
    });
    one.hook('elected', 'last');
    one.elections.start();
    await untilOpen(one);
    expect(one.log).toEqual(['last']);
  });

  it('may resign: the next candidate is elected, and no work has run', async () => {
    const { one, other } = startTwo();
    one.hook('elected', 'unwilling', () => currentTerm()?.resign());
    one.hook('deposed', 'deposed', () => (one.log.push('deposed'), currentTerm()?.resign()));
    one.elections.start();
    await eventually(() => one.log.length > 0 || undefined, 'it was elected and deposed');
    other.elections.start();
    await untilOpen(other);
    await expect(one.leadership.using(() => 1)).rejects.toMatchObject({ code: 'LOCK_NOT_LEADER' });
  });

  it('do not begin after the shutdown has begun, whenever the election is won', async () => {
    const logs: string[] = [];
    // In one of these turns the election is won, and its hooks have not begun.
    for (let turns = 0; turns < 40; turns++) {
      const one = startApplication(new SharedBackend());
      let isStopping = false;
      one.hook('elected', 'elected', () => one.log.push(isStopping ? 'late' : 'elected'), one.log);
      one.hook('deposed', 'deposed', () => one.log.push('deposed'), one.log);
      one.elections.start();
      for (let turn = 0; turn < turns; turn++) await Promise.resolve();
      isStopping = true;
      await one.close();
      logs.push(one.log.join());
    }
    expect(new Set(logs)).toEqual(new Set(['', 'elected,deposed']));
  });

  it('are skipped after a resignation, and so are the deposed hooks of the same object', async () => {
    const { one } = startTwo();
    const [first, second] = [{}, {}];
    one.hook('elected', 'first', () => (one.log.push('first'), void one.elections.resign('poller')), first);
    one.hook('elected', 'second', undefined, second);
    one.hook('deposed', 'second is over', undefined, second);
    one.hook('deposed', 'first is over', undefined, first);
    one.hook('deposed', 'anybody', undefined, {});
    one.elections.start();
    await eventually(() => one.log.length >= 3 || undefined, 'it was elected and deposed');
    expect(one.log.slice(0, 3)).toEqual(['first', 'first is over', 'anybody']);
  });
});
