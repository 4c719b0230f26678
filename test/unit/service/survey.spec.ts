import { describe, expect, it, vi } from 'vitest';
import type { Survey, SurveyQuestion } from '../../../lib/contract/survey.js';
import { memory } from '../../../lib/memory/memory.backend.js';
import { LockService } from '../../../lib/service/lock.service.js';
import { connectionOf } from '../../../lib/service/lock.service.js';
import type { LockServiceOptions } from '../../../lib/service/lock-service.options.js';
import type { SurveyOptions } from '../../../lib/service/survey.js';
import { settled } from '../local/callers.js';
import { startLocks } from './locks.js';

let time = 1_000;
vi.mock('../../../lib/async/clock.js', async (original) => ({ ...(await original<object>()), now: () => time }));

const NEVER = new AbortController().signal;
const NOT_WAITING = { wait: false, signal: NEVER } as const;

/** Counts the surveys that reach the backend. */
function countedSurveys({ backend }: Pick<ReturnType<typeof startLocks>, 'backend'>) {
  const questions: SurveyQuestion[] = [];
  const answer = backend.survey.bind(backend);
  let running = 0;
  const counts = { questions, mostAtOnce: 0 };
  backend.survey = async (question) => {
    questions.push(question);
    counts.mostAtOnce = Math.max(counts.mostAtOnce, ++running);
    await new Promise(setImmediate);
    running--;
    return answer(question);
  };
  return counts;
}

describe('a survey', () => {
  it('shows the callers of this process one by one, and counts them', async () => {
    const { locks } = startLocks({ localLine: true });
    const lease = await locks.acquire('k', { label: 'first' });
    const waits = ['second', 'third', 'fourth'].map((label) => locks.using('k', () => {}, { label }));
    await settled();
    const { keys } = await locks.survey({ mostContenders: 2 });
    expect(keys).toMatchObject([
      {
        key: 'k',
        kind: 'lock',
        holding: 1,
        holders: [{ owner: { label: 'first' } }],
        waiting: 3,
        waiters: [
          { owner: { label: 'second' }, isLocal: true },
          { owner: { label: 'third' }, isLocal: true },
        ],
      },
    ]);
    time += 2_000;
    const all = (await locks.survey({ mostContenders: 100 })).keys[0];
    expect([...(all?.holders ?? []), ...(all?.waiters ?? [])]).toEqual(await locks.contenders('k'));
    await lease.release();
    await Promise.all(waits);
  });

  it('shows what belongs to a service as the application writes it', async () => {
    const { locks, backend } = startLocks({ service: 'shop' });
    const connection = connectionOf(locks);
    const request = { mode: 'exclusive', line: 'fifo', ...NOT_WAITING } as const;
    await connection.jobLock('report/daily', 'none').acquire();
    await backend.elections.campaign({ key: connection.names.keyOf({ kind: 'election', name: 'poller' }), ...request });
    await backend.elections.campaign({ key: 'other/poller', ...request });
    await backend.elections.campaign({ key: '/app/latch', ...request });
    const payloads = [Buffer.from('x')];
    await backend.coordination.queues.put({ key: 'shop/mails', payloads, ...NOT_WAITING });
    await locks.acquire('shop/1');
    const named = async (options?: SurveyOptions) => {
      const { keys, queues } = await locks.survey(options);
      const shown = [...keys, ...queues.map((queue) => ({ ...queue, kind: 'queue' }))];
      return shown.map(({ kind, service, key }) => `${kind} ${service} ${key}`).sort();
    };
    expect(await named()).toEqual([
      'election other poller',
      'election shop poller',
      'election undefined /app/latch',
      'job shop report/daily',
      'lock undefined shop/1',
      'queue shop mails',
    ]);
    expect(await named({ prefix: 'po' })).toEqual(['election shop poller']);
    expect(await named({ prefix: 'report/' })).toEqual(['job shop report/daily']);
    expect(await named({ prefix: 'mail' })).toEqual(['queue shop mails']);
    expect(await named({ prefix: 'shop/1' })).toEqual(['lock undefined shop/1']);
    expect(await named({ prefix: '/app' })).toEqual(['election undefined /app/latch']);
  });

  it('includes the absolute keys that this process has used', async () => {
    const { locks, backend } = startLocks();
    await locks.acquire('/theirs/a');
    await locks.acquire('ours');
    const all = backend.survey.bind(backend);
    const isBelow = (key: string, prefix = '') => key.startsWith('/') === prefix.startsWith('/');
    backend.survey = async (question): Promise<Survey> => {
      const survey = await all(question);
      return { ...survey, keys: survey.keys.filter(({ key }) => isBelow(key, question.prefix)) };
    };
    const { keys } = await locks.survey();
    expect(keys.map(({ key }) => key).sort()).toEqual(['/theirs/a', 'ours']);
  });

  it('is asked once a second, however many callers there are', async () => {
    const started = startLocks();
    const { questions } = countedSurveys(started);
    const [first, second] = await Promise.all([started.locks.survey(), started.locks.survey()]);
    time += 999;
    expect([second, await started.locks.survey()]).toEqual([first, first]);
    expect(questions).toHaveLength(1);
    time += 1;
    await started.locks.survey();
    expect(questions).toHaveLength(2);
  });

  it('runs alone, whatever its bounds', async () => {
    const started = startLocks({ service: undefined });
    const counts = countedSurveys(started);
    await Promise.all(['a', 'b', 'c'].map((prefix) => started.locks.survey({ prefix })));
    expect([counts.questions.length, counts.mostAtOnce]).toEqual([3, 1]);
  });

  it('asks again after it has failed', async () => {
    const { locks, backend } = startLocks();
    const survey = backend.survey.bind(backend);
    backend.survey = () => Promise.reject(new Error('broken'));
    await expect(locks.survey()).rejects.toThrow('broken');
    backend.survey = survey;
    expect(await locks.survey()).toMatchObject({ keys: [], isTruncated: false });
  });

  it('lists the longest wait queues first, within its bounds', async () => {
    const { locks } = startLocks();
    for (const key of ['a', 'b', 'c']) await locks.acquire(key);
    const [leaving, gone] = [new AbortController(), new Error('gone')];
    const wait = locks.using('b', () => {}, { signal: leaving.signal });
    await settled();
    const { keys, isTruncated } = await locks.survey({ mostKeys: 3 });
    expect([keys[0]?.key, keys.length, isTruncated]).toEqual(['b', 3, false]);
    expect((await locks.survey({ mostKeys: 2 })).isTruncated).toBe(true);
    leaving.abort(gone);
    await expect(wait).rejects.toBe(gone);
  });

  it('rejects with the reason of its signal', async () => {
    const { locks, backend } = startLocks();
    const [leaving, reason] = [new AbortController(), new Error('gave up')];
    backend.survey = () => new Promise(() => {});
    const survey = locks.survey({ signal: leaving.signal });
    leaving.abort(reason);
    await expect(survey).rejects.toBe(reason);
  });

  it.each<readonly [string, SurveyOptions]>([
    ['mostKeys must be a whole number from 1 to 10000, got the number 0', { mostKeys: 0 }],
    ['mostContenders must be a whole number from 1 to 100, got the number 1.5', { mostContenders: 1.5 }],
    ['withinMs must be a number of milliseconds, from 1 to 60000, got Infinity', { withinMs: Infinity }],
    ['prefix must be a string of at most 1024 characters, got the number 7', { prefix: 7 as never }],
    ['signal must be an AbortSignal', { signal: {} as never }],
    ['survey options: unknown field "limit"', { limit: 7 } as never],
  ])('refuses options: %s', async (message, options) => {
    await expect(startLocks().locks.survey(options)).rejects.toThrow(message.replace('got Infinity', 'got '));
  });

  it('is refused by a backend that has none', async () => {
    const backend = memory().create();
    const plain = new Proxy(backend, {
      get: (target, name) => {
        const value: unknown = name === 'survey' ? undefined : Reflect.get(target, name);
        return typeof value === 'function' ? value.bind(target) : value;
      },
    });
    const options = { connectionName: 'default', waitMs: 1, drainTimeoutMs: 0, connectOnStart: 'required' } as const;
    const locks = new LockService(plain, options satisfies LockServiceOptions);
    await expect(locks.survey()).rejects.toThrow('the backend "memory" has no survey');
  });
});
