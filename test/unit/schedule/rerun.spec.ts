import { describe, expect, it, vi } from 'vitest';
import { deferred } from '../../../lib/async/deferred.js';
import { currentRun } from '../../../lib/schedule/current-run.js';
import type { JobEvent } from '../../../lib/contract/job-event.js';
import { blocking, cluster, die, KEY, LOCK, TICK } from './cluster.js';
import { jobWith } from './jobs.js';
import type { Node } from './jobs.js';
import { connectionOf } from '../../../lib/service/lock.service.js';

const job = jobWith({ onCrash: 'rerun' });
const nothing = async () => {};

function nextEvent(node: Node, type: JobEvent['type']): Promise<JobEvent> {
  const heard = deferred<JobEvent>();
  node.runs.events.subscribe((event) => event.type === type && heard.resolve(event));
  return heard.promise;
}

/** One node is in a run, and the others have fired for the same tick. */
async function running(others: number) {
  const all = cluster(others + 1);
  const holder = blocking();
  const held = all.one.jobs.fire(job, holder.body);
  held.catch(() => {});
  await holder.entered;
  return { ...all, holder, held };
}

describe("an instance that dies in a run, with onCrash: 'rerun'", () => {
  it('is followed by another in the same tick, once', async () => {
    const { backend, nodes } = await running(3);
    const body = vi.fn<() => Promise<unknown>>(async () => [currentRun()?.tick, currentRun()?.attempt]);
    const [, two, three, four] = nodes as [Node, Node, Node, Node];
    await Promise.all([two, three, four].map(({ jobs }) => jobs.fire(job, body)));
    await backend.standing(LOCK, 4);
    const finished = nextEvent(two, 'finished');
    await die(backend);
    expect(await finished).toMatchObject({ run: { tick: new Date(TICK), state: 'done', attempt: 2 } });
    await backend.standing(LOCK, 0);
    expect(body).toHaveBeenCalledTimes(1);
    expect(await two.runs.last('daily')).toMatchObject({ state: 'done', attempt: 2 });
    expect([two, three, four].map(({ skips }) => skips)).toEqual([['taken'], ['taken'], ['taken']]);
    expect(two.events.find(({ type }) => type === 'crashed')).toMatchObject({ run: { attempt: 1, state: 'crashed' } });
  });

  it('is not followed when its run ends well: the instances standing by leave the queue', async () => {
    const { backend, other, holder, held } = await running(1);
    const body = vi.fn<() => Promise<void>>(nothing);
    await other.jobs.fire(job, body);
    await backend.standing(LOCK, 2);
    holder.end('done');
    expect(await held).toBe('done');
    await backend.standing(LOCK, 0);
    expect(body).not.toHaveBeenCalled();
  });

  it('is not followed when the method fails', async () => {
    const { backend, other, holder, held } = await running(1);
    await other.jobs.fire(job, nothing);
    await backend.standing(LOCK, 2);
    holder.fail(new Error('its own'));
    await expect(held).rejects.toThrow('its own');
    await backend.standing(LOCK, 0);
    expect(await other.runs.last('daily')).toMatchObject({ state: 'failed', attempt: 1 });
  });

  it('has one firing of each process standing by, however often that fires', async () => {
    const { backend, other, clock } = await running(1);
    for (let second = 0; second < 3; second++) {
      await other.jobs.fire(job, nothing);
      clock.now += 1_000;
    }
    await backend.standing(LOCK, 2);
    expect(other.skips).toEqual(['taken', 'overrun', 'overrun']);
    expect(backend.requests).toHaveLength(2);
  });

  it('does not overwrite the marker of its successor if it was only paused', async () => {
    const { backend, other, holder, held } = await running(1);
    const finished = nextEvent(other, 'finished');
    await other.jobs.fire(job, nothing);
    await backend.standing(LOCK, 2);
    await die(backend);
    await finished;
    holder.end('late');
    await expect(held).rejects.toMatchObject({ code: 'LOCK_LOST' });
    expect(await other.runs.last('daily')).toMatchObject({ state: 'done', attempt: 2 });
  });

  it('is followed at the start of an application, before the next tick', async () => {
    const { backend, other } = await running(1);
    await die(backend);
    const finished = nextEvent(other, 'finished');
    await other.jobs.resume(job, nothing);
    expect(await finished).toMatchObject({ run: { tick: new Date(TICK), state: 'done', attempt: 2 } });
  });

  it('is not followed when nothing has crashed, or nothing must be finished', async () => {
    const { one, backend } = cluster(1);
    await one.jobs.resume(job, nothing);
    await one.jobs.fire(job, nothing);
    await one.jobs.resume(job, nothing);
    expect(backend.requests).toHaveLength(1);
    expect(one.events.map(({ type }) => type)).toEqual(['started', 'finished']);
  });

  it('is followed at most `attempts` times, and then the next tick is run', async () => {
    const { one, other, backend, clock } = cluster(2);
    const twice = jobWith({ onCrash: 'rerun', attempts: 2 });
    const first = blocking();
    const dead = one.jobs.fire(twice, first.body).catch(() => {});
    await first.entered;
    await die(backend);
    const second = blocking();
    await other.jobs.resume(twice, second.body);
    expect((await second.entered).run?.attempt).toBe(2);
    await die(backend);
    second.end('gone');
    first.end('gone');
    await dead;
    await backend.standing(LOCK, 0);
    const third = vi.fn<() => Promise<unknown>>(async () => currentRun()?.tick);
    await one.jobs.resume(twice, third);
    expect(await one.jobs.fire(twice, third)).toBeUndefined();
    clock.now += 1_000;
    expect(await one.jobs.fire(twice, third)).toEqual(new Date(TICK + 1_000));
    expect(third).toHaveBeenCalledTimes(1);
  });

  it('has its tick finished before the ticks that fired meanwhile', async () => {
    const { backend, other, clock } = await running(1);
    clock.now += 2_000;
    await other.jobs.fire(job, nothing);
    await backend.standing(LOCK, 2);
    const finished = nextEvent(other, 'finished');
    await die(backend);
    expect(await finished).toMatchObject({ run: { tick: new Date(TICK) } });
    await backend.standing(LOCK, 0);
    clock.now += 1_000;
    expect(await other.jobs.fire(job, async () => currentRun()?.tick)).toEqual(new Date(TICK + 3_000));
  });

  it('costs no later tick: the next firing finishes its run, then runs its own', async () => {
    const { backend, other, clock } = await running(1);
    await die(backend);
    clock.now += 1_000;
    const runs: unknown[] = [];
    const body = async () => void runs.push([currentRun()?.tick, currentRun()?.attempt]);
    await other.jobs.fire(job, body);
    expect(runs).toEqual([
      [new Date(TICK), 2],
      [new Date(TICK + 1_000), 1],
    ]);
    expect([other.skips, backend.busyKeys]).toEqual([[], []]);
  });

  it('costs no later tick when it fails again', async () => {
    const { backend, other, clock } = await running(1);
    await die(backend);
    clock.now += 1_000;
    const fail = () => Promise.reject(new Error('again'));
    const body = async () => (currentRun()?.attempt === 2 ? await fail() : undefined, currentRun()?.tick);
    expect(await other.jobs.fire(job, body)).toEqual(new Date(TICK + 1_000));
  });

  it('is followed by a firing that supersedes one which has just finished the earlier tick', async () => {
    const { backend, other, clock } = await running(1);
    await die(backend);
    clock.now += 1_000;
    const ticks: unknown[] = [];
    let later: Promise<unknown> | undefined;
    const body = async () => {
      ticks.push(currentRun()?.tick);
      const lease = backend.leaseOn(LOCK)!;
      const release = lease.release.bind(lease);
      vi.spyOn(lease, 'release').mockImplementationOnce(async () => {
        clock.now = TICK + 2_000;
        later ??= other.jobs.fire(job, body);
        await vi.waitUntil(() => backend.requests.length > 2, 30_000);
        await release();
      });
    };
    await other.jobs.fire(job, body);
    await later;
    expect(ticks).toEqual([new Date(TICK), new Date(TICK + 2_000)]);
    expect(other.skips).toEqual(['superseded']);
  });

  it('is logged when the run that follows it fails, since no caller awaits that run', async () => {
    const { backend, other } = await running(1);
    await die(backend);
    const finished = nextEvent(other, 'finished');
    await other.jobs.resume(job, () => Promise.reject(new Error('again')));
    expect(await finished).toMatchObject({ run: { state: 'failed', error: 'Error: again' } });
  });
});

describe('shutting down', () => {
  it('prevents new runs, and ends standing by', async () => {
    const { backend, other } = await running(1);
    await other.jobs.fire(job, nothing);
    await backend.standing(LOCK, 2);
    other.runs.onModuleDestroy();
    await backend.standing(LOCK, 1);
    expect(await other.jobs.fire(job, nothing)).toBeUndefined();
    expect(other.skips).toEqual(['taken', 'shutdown']);
  });

  it.each(['fire', 'resume'] as const)('prevents a run whose lock is granted at that moment: %s', async (call) => {
    const { backend, other, clock } = await running(1);
    await die(backend);
    const acquire = backend.acquire.bind(backend);
    vi.spyOn(backend, 'acquire').mockImplementation(async (request) => {
      const lease = await acquire(request);
      other.runs.onModuleDestroy();
      return lease;
    });
    clock.now += 1_000;
    const body = vi.fn<() => Promise<void>>(nothing);
    const asked = call === 'fire' ? jobWith() : job;
    await other.jobs[call](asked, body);
    await backend.standing(LOCK, 0);
    expect([body.mock.calls.length, other.skips]).toEqual([0, call === 'fire' ? ['shutdown'] : []]);
  });

  it('skips a firing that is undecided', async () => {
    const { one, other } = cluster(2);
    const looking = await connectionOf(other.locks).jobLock(KEY, 'fifo').acquire();
    const firing = one.jobs.fire(jobWith(), nothing);
    one.runs.onModuleDestroy();
    expect(await firing).toBeUndefined();
    expect(one.skips).toEqual(['shutdown']);
    await looking.release();
  });

  it('completes the events when the last run has ended', async () => {
    const { one, holder, held } = await running(0);
    const completed = deferred();
    one.runs.events.subscribe({ complete: () => completed.resolve() });
    one.runs.onModuleDestroy();
    one.runs.onApplicationShutdown();
    holder.end('done');
    expect(await held).toBe('done');
    await completed.promise;
    expect(one.events.map(({ type }) => type)).toEqual(['started', 'finished']);
  });
});
