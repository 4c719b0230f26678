import { describe, expect, it } from 'vitest';
import { LeaderElectionService } from '../../../lib/elections/leader-election.service.js';
import type { Leader, Elections } from '../../../lib/contract/elections.js';
import { LockLostError } from '../../../lib/contract/errors.js';
import type { LockBackend } from '../../../lib/contract/lock-backend.js';
import { LockService } from '../../../lib/service/lock.service.js';
import { eventually } from '../../support/eventually.js';
import { startCandidate, startCandidates } from './candidates.js';

describe('campaign()', () => {
  it('elects one candidate, then the next after a resignation, with growing tokens', async () => {
    const { backend, one, other } = startCandidates();
    const first = await one.elections.campaign('poller');
    let isElected = false;
    const waiting = other.elections.campaign('poller').finally(() => (isElected = true));
    await eventually(() => backend.standing('poller') === 2 || undefined, 'two candidates');

    expect([first.isHeld(), first.state, first.key]).toEqual([true, 'held', 'poller']);
    expect(isElected).toBe(false);
    await first.resign();

    const second = await waiting;
    expect(second.isHeld()).toBe(true);
    expect([first.isHeld(), first.state]).toEqual([false, 'released']);
    expect(second.fencingToken).toBeGreaterThan(first.fencingToken);
  });

  it('resigns at the end of a block', async () => {
    const { one, other } = startCandidates();
    {
      await using term = await one.elections.campaign('poller');
      expect(term.isHeld()).toBe(true);
    }
    expect((await other.elections.campaign('poller', { waitMs: 0 })).isHeld()).toBe(true);
  });

  it.each([0, 20])('times out after waitMs %d, and leaves the queue', async (waitMs) => {
    const { backend, one, other } = startCandidates();
    await one.elections.campaign('poller');
    await expect(other.elections.campaign('poller', { waitMs })).rejects.toMatchObject({
      code: 'LOCK_TIMEOUT',
      key: 'poller',
      waitMs,
    });
    expect(backend.standing('poller')).toBe(1);
  });

  it('rejects with the caller’s own reason when its signal aborts', async () => {
    const { backend, one, other } = startCandidates();
    await one.elections.campaign('poller');
    const abort = new AbortController();
    const waiting = other.elections.campaign('poller', { signal: abort.signal });
    await eventually(() => backend.standing('poller') === 2 || undefined, 'two candidates');
    const reason = new Error('changed my mind');
    abort.abort(reason);
    await expect(waiting).rejects.toBe(reason);
    expect(backend.standing('poller')).toBe(1);
  });

  it('is not queued at all when its signal has aborted before', async () => {
    const { backend, one } = startCandidates();
    await expect(one.elections.campaign('poller', { signal: AbortSignal.abort('no') })).rejects.toBe('no');
    expect(backend.standing('poller')).toBe(0);
  });

  it('aborts the leader’s signal when the term is lost, and elects the next candidate', async () => {
    const { backend, one, other } = startCandidates();
    const term = await one.elections.campaign('poller');
    const waiting = other.elections.campaign('poller');
    backend.leaseOn('poller')?.lose(new LockLostError('poller', 'test'));
    expect([term.isHeld(), term.state, term.signal.aborted]).toEqual([false, 'lost', true]);
    expect((await waiting).isHeld()).toBe(true);
  });

  it('neither excludes a lock of the same name nor waits for it', async () => {
    const { one, other } = startCandidates();
    await using _lock = await one.locks.acquire('poller');
    await other.elections.campaign('poller', { waitMs: 0 });
    expect(await other.locks.tryAcquire('poller')).toBeNull();
  });

  it.each([
    [{ waitMs: -1 }, /waitMs/],
    [{ value: 7 }, /value must be a string of at most 64 kB, got the number 7/],
    [{ value: 'x'.repeat(64 * 1024 + 1) }, /64 kB/],
    [{ label: 1 }, /label/],
    [{ signal: {} }, /signal/],
    [{ name: 'x' }, /campaign options: unknown field "name"/],
  ])('refuses %o', async (options, message) => {
    const { one } = startCandidates();
    await expect(one.elections.campaign('poller', options as object)).rejects.toMatchObject({
      code: 'LOCK_CONFIGURATION',
      message: expect.stringMatching(message),
    });
  });

  it('is refused at shutdown, and waiting candidates are rejected', async () => {
    const { backend, one, other } = startCandidates();
    await one.elections.campaign('poller');
    const waiting = expect(other.elections.campaign('poller')).rejects.toMatchObject({ code: 'LOCK_SHUTDOWN' });
    await eventually(() => backend.standing('poller') === 2 || undefined, 'two candidates');
    await other.close();
    await waiting;
    await expect(other.elections.campaign('poller')).rejects.toMatchObject({ code: 'LOCK_SHUTDOWN' });
  });

  it('sets the name of the term on a backend that returns only keys', async () => {
    const { backend } = startCandidates();
    const connection = backend.connection();
    const campaign: Elections['campaign'] = (request) =>
      backend.memory.elections.campaign({ ...request, name: undefined });
    const elections: Elections = { campaign, look: (...at) => backend.memory.elections.look(...at) };
    const options = {
      connectionName: 'default',
      service: 'test',
      waitMs: 0,
      drainTimeoutMs: 0,
      connectOnStart: 'required',
    } as const;
    const service = new LeaderElectionService(
      new LockService({ ...connection, state: 'connected', elections }, options),
    );
    const term = await service.campaign('poller');
    expect([term.key, service.term('poller')]).toEqual(['poller', term]);
    await service.resign('poller');
    expect(term.isHeld()).toBe(false);
  });

  it('names the backend when it supports no elections', async () => {
    const { backend } = startCandidates();
    const { elections: _, ...without } = backend.connection();
    const bare: LockBackend = { ...without, name: 'bare', state: 'connected' };
    const options = { connectionName: 'default', waitMs: 0, drainTimeoutMs: 0, connectOnStart: 'required' } as const;
    const elections = new LeaderElectionService(new LockService(bare, options));
    await expect(elections.campaign('poller')).rejects.toThrow('the backend "bare" holds no elections');
  });
});

describe('leader()', () => {
  it('returns the leader, its election time and its value', async () => {
    const { one, other } = startCandidates();
    expect(await one.elections.leader('poller')).toBeNull();
    const term = await one.elections.campaign('poller', { label: 'node-1', value: 'http://one' });

    expect(await other.elections.leader('poller')).toEqual({
      id: 'node-1',
      owner: { pid: process.pid, label: 'node-1' },
      value: 'http://one',
      since: term.acquiredAt,
      fencingToken: term.fencingToken,
      isOwn: true,
    });
    await term.proclaim('http://two');
    expect(await other.elections.leader('poller')).toMatchObject({ value: 'http://two' });
    await term.resign();
    expect(await other.elections.leader('poller')).toBeNull();
  });

  it('is not changed by a term that is over', async () => {
    const { one } = startCandidates();
    const term = await one.elections.campaign('poller');
    await term.resign();
    await expect(term.proclaim('late')).rejects.toMatchObject({ code: 'LOCK_LOST' });
    await expect((await one.elections.campaign('poller')).proclaim(1 as never)).rejects.toThrow(/64 kB/);
  });
});

describe('term() and resign()', () => {
  it('concern only the terms of this application', async () => {
    const { one, other } = startCandidates();
    const term = await one.elections.campaign('poller');
    expect(one.elections.term('poller')).toBe(term);
    expect(one.elections.term('other')).toBeUndefined();
    expect(other.elections.term('poller')).toBeUndefined();

    await other.elections.resign('poller');
    expect(term.isHeld()).toBe(true);
    await one.elections.resign('poller');
    expect(term.isHeld()).toBe(false);
    expect(one.elections.term('poller')).toBeUndefined();
  });
});

describe('observe()', () => {
  it('yields the current leader, then each change of leader or value', async () => {
    const { one, other } = startCandidates();
    const seen: (string | undefined)[] = [];
    const leaders = one.elections.observe('poller')[Symbol.asyncIterator]();
    const next = async () => ((await leaders.next()).value as Leader | null)?.value;
    seen.push(await next());
    const first = other.elections.campaign('poller', { value: 'a' });
    seen.push(await next());
    await (await first).proclaim('b');
    seen.push(await next());
    await (await first).resign();
    seen.push(await next());
    await leaders.return?.();
    expect(seen).toEqual([undefined, 'a', 'b', undefined]);
  });

  it('skips changes that happened between two reads', async () => {
    const { one } = startCandidates();
    const leaders = one.elections.observe('poller')[Symbol.asyncIterator]();
    expect((await leaders.next()).value).toBeNull();
    const terms = [];
    for (const value of ['a', 'b', 'c']) {
      await terms.at(-1)?.resign();
      terms.push(await one.elections.campaign('poller', { value }));
    }
    expect((await leaders.next()).value).toMatchObject({ value: 'c' });
  });

  it('ends with the signal’s reason, also while it waits', async () => {
    const { one } = startCandidates();
    const abort = new AbortController();
    const leaders = one.elections.observe('poller', { signal: abort.signal })[Symbol.asyncIterator]();
    await leaders.next();
    const waiting = leaders.next();
    abort.abort(new Error('enough'));
    await expect(waiting).rejects.toThrow('enough');
    expect(await leaders.next()).toEqual({ done: true, value: undefined });
  });

  it('ends at shutdown', async () => {
    const { backend } = startCandidates();
    const { elections, close } = startCandidate(backend);
    const leaders = elections.observe('poller')[Symbol.asyncIterator]();
    await leaders.next();
    const waiting = expect(leaders.next()).rejects.toMatchObject({ code: 'LOCK_SHUTDOWN' });
    await close();
    await waiting;
    await expect(elections.observe('poller').next()).rejects.toMatchObject({ code: 'LOCK_SHUTDOWN' });
  });

  it('refuses a wrong option at once', () => {
    const { one } = startCandidates();
    expect(() => one.elections.observe('poller', { signal: 1 as never })).toThrow(/signal must be an AbortSignal/);
  });
});
