import { Controller, ForbiddenException, Get, Injectable, Logger, VersioningType } from '@nestjs/common';
import type { CallHandler, CanActivate, ExecutionContext, NestInterceptor } from '@nestjs/common';
import { APP_GUARD, NestFactory } from '@nestjs/core';
import { map } from 'rxjs';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { DashboardAccess } from '../../lib/dashboard/access.js';
import { LockDashboardModule } from '../../lib/dashboard/index.js';
import type { SurveyQuestion } from '../../lib/index.js';
import { deferred } from '../../lib/async/deferred.js';
import { channels } from '../../lib/contract/channels.js';
import { CoordinationService, CronRunsService, LeaderElectionService } from '../../lib/index.js';
import { LockLostError, LockModule, LockService } from '../../lib/index.js';
import { connectionOf } from '../../lib/service/lock.service.js';
import type { JobRun } from '../../lib/index.js';
import type { StateAnswer } from '../../lib/dashboard/answers.js';
import { scene } from '../dashboard/scene-backend.js';
import { assetsFolder, OWN, serveDashboard } from './dashboard-app.js';
import type { DashboardApp } from './dashboard-app.js';
import { PLATFORMS } from './platforms.js';
import type { Platform } from './platforms.js';

const ROUTES = ['/locks', '/locks/assets/main.js', '/locks/api/state', '/locks/api/key?id=a'];
const SOON = { timeout: 30_000 };
const BOTH = Object.keys(PLATFORMS) as Platform[];
const stateOf = async (answer: Response) => (await answer.json()) as StateAnswer;

afterEach(() => {
  vi.unstubAllEnvs();
  vi.restoreAllMocks();
});

describe.each(BOTH)('the page on %s', (platform) => {
  it('is a document without data and inline code, under a strict policy', async () => {
    const { get } = await serveDashboard({ platform });
    const answer = await get('/locks');
    const text = await answer.text();
    expect(answer.status).toBe(200);
    expect(answer.headers.get('content-type')).toBe('text/html; charset=utf-8');
    expect(text).toContain('<base href="./locks/">');
    expect(text).not.toMatch(/<script(?![^>]*src=)|<style|\son\w+=|\sstyle=|https?:\/\//);
    expect(answer.headers.get('content-security-policy')?.split('; ')).toEqual([
      "default-src 'none'",
      "script-src 'self'",
      "style-src 'self'",
      "img-src 'self' data:",
      "connect-src 'self'",
      "base-uri 'self'",
      "form-action 'none'",
      "frame-ancestors 'none'",
      "require-trusted-types-for 'script'",
      "trusted-types 'none'",
    ]);
    expect(answer.headers.get('cache-control')).toBe('no-store');
    expect(answer.headers.get('referrer-policy')).toBe('no-referrer');
    expect(answer.headers.get('x-content-type-options')).toBe('nosniff');
    expect(answer.headers.get('x-robots-tag')).toBe('noindex');
  });

  it('serves its files from a table, and no others', async () => {
    const { get } = await serveDashboard({ platform });
    const file = await get('/locks/assets/main.js');
    expect(file.headers.get('content-type')).toBe('text/javascript; charset=utf-8');
    expect(await file.text()).toBe('export {};\n');
    const again = await get('/locks/assets/main.js', { 'if-none-match': file.headers.get('etag')! });
    expect(again.status).toBe(304);
    for (const name of ['secret.txt', 'none.js', '..%2Fmain.js', '%2e%2e%2fpackage.json', '__proto__', 'constructor']) {
      expect((await get(`/locks/assets/${name}`)).status).toBe(404);
    }
  });

  it('answers with the keys of the cluster, and with 304 while nothing has changed', async () => {
    const { get, backend, locks } = await serveDashboard({ platform });
    backend.cluster.set('order/1', {
      holders: [{ label: 'Orders.place', ageMs: 5_000 }],
      waiters: [{ label: 'Orders.cancel' }],
    });
    const lease = await locks.acquire('order/2', { label: 'Here' });
    const answer = await get('/locks/api/state');
    const state = await stateOf(answer);
    expect(state.keys.map(({ key, holding, waiting }) => [key, holding, waiting])).toEqual([
      ['order/1', 1, 1],
      ['order/2', 1, 0],
    ]);
    expect(state.keys[0]!.holders[0]).toMatchObject({ owner: { label: 'Orders.place', host: 'shop-1', pid: 17 } });
    expect(state).toMatchObject({ connection: 'default', held: 2, waiting: 1, actions: [], fault: null, runs: null });
    expect(Math.abs(Number(answer.headers.get('x-locks-now')) - Date.now())).toBeLessThan(60_000);
    await lease.release();
    backend.cluster.clear();
    const settled = await vi.waitFor(async () => {
      const empty = await get('/locks/api/state');
      expect((await stateOf(empty)).keys).toEqual([]);
      return empty;
    }, SOON);
    const etag = settled.headers.get('etag')!;
    expect((await get('/locks/api/state', { 'if-none-match': etag })).status).toBe(304);
  });

  it('is not changed by interceptors, pipes, prefixes and versions', async () => {
    @Injectable()
    class Wrapping implements NestInterceptor {
      intercept(_context: ExecutionContext, next: CallHandler) {
        return next.handle().pipe(map((data: unknown) => ({ data })));
      }
    }
    const { get, url } = await serveDashboard({
      platform,
      configure: (app) => {
        app.useGlobalInterceptors(new Wrapping());
        app.useGlobalPipes(new ChangingPipe());
        app.setGlobalPrefix('internal');
        app.enableVersioning({ type: VersioningType.URI, defaultVersion: '1' });
      },
    });
    const page = await get('/internal/locks');
    expect(await page.text()).toContain('<base href="./locks/">');
    expect((await stateOf(await get('/internal/locks/api/state'))).connection).toBe('default');
    const acted = await fetch(`${url}/internal/locks/api/actions/revoke`, { method: 'POST', headers: OWN, body: '{}' });
    expect(acted.status).toBe(403);
  });

  it('lets the application close while a page polls', async () => {
    const { app, get } = await serveDashboard({ platform });
    await get('/locks/api/state');
    await app.close();
    await expect(get('/locks/api/state')).rejects.toThrow('fetch failed');
  });
});

/** class-validator is not installed here. A pipe that changes whatever it is given does the same. */
@Injectable()
class ChangingPipe {
  transform(value: unknown): unknown {
    return value === undefined ? undefined : { changed: value };
  }
}

describe('access', () => {
  it.each(['production', ''])(
    'is refused on every route without authorize and guards, with NODE_ENV "%s"',
    async (env) => {
      vi.stubEnv('NODE_ENV', env);
      const { get, act } = await serveDashboard({ options: { actions: ['revoke'] } });
      for (const route of ROUTES) expect([route, (await get(route)).status]).toEqual([route, 403]);
      expect((await act('revoke', { id: 'a', graceMs: 0 })).status).toBe(403);
    },
  );

  it('that is closed for want of authorize and guards is explained in the log, once', async () => {
    vi.stubEnv('NODE_ENV', 'production');
    const warn = vi.spyOn(Logger.prototype, 'warn').mockImplementation(() => {});
    const { get } = await serveDashboard();
    for (const route of ROUTES) await get(route);
    const lines = warn.mock.calls.map(([line]) => String(line)).filter((line) => line.startsWith('the page refuses'));
    expect(lines).toEqual([
      'the page refuses every request: LockDashboardModule has neither authorize nor guards, and NODE_ENV is neither ' +
        'development nor test',
    ]);
    const guarded = await serveDashboard({ options: { authorize: () => false } });
    expect((await guarded.get('/locks')).status).toBe(403);
    expect(warn).toHaveBeenCalledTimes(lines.length);
  });

  it.each(['development', 'test'])('is open with NODE_ENV "%s"', async (env) => {
    vi.stubEnv('NODE_ENV', env);
    const { get } = await serveDashboard();
    expect((await get('/locks')).status).toBe(200);
  });

  it('is what authorize says, on every route', async () => {
    vi.stubEnv('NODE_ENV', 'production');
    const asked: string[] = [];
    const authorize = async (context: ExecutionContext, action: string) => {
      asked.push(action);
      return (
        context.switchToHttp().getRequest<{ headers: Record<string, string> }>().headers.authorization === 'let me in'
      );
    };
    const { get } = await serveDashboard({ options: { authorize } });
    for (const route of ROUTES) expect([route, (await get(route)).status]).toEqual([route, 403]);
    for (const route of ROUTES)
      expect([route, (await get(route, { authorization: 'let me in' })).status]).toEqual([route, 200]);
    expect(new Set(asked)).toEqual(new Set(['view']));
  });

  it('is refused when authorize answers with something that is not true', async () => {
    const { get } = await serveDashboard({ options: { authorize: () => 'no' as never } });
    expect((await get('/locks')).status).toBe(403);
  });

  it('is what guards say, on every route, with their dependencies', async () => {
    vi.stubEnv('NODE_ENV', 'production');
    @Injectable()
    class Refusing implements CanActivate {
      canActivate(context: ExecutionContext): boolean {
        return context.switchToHttp().getRequest<{ headers: Record<string, string> }>().headers.staff === 'yes';
      }
    }
    const { get, act } = await serveDashboard({ options: { guards: [Refusing], actions: ['revoke'] } });
    for (const route of ROUTES) expect([route, (await get(route)).status]).toEqual([route, 403]);
    for (const route of ROUTES) expect([route, (await get(route, { staff: 'yes' })).status]).toEqual([route, 200]);
    expect((await act('revoke', { id: 'a', graceMs: 0 })).status).toBe(403);
    expect((await act('revoke', { id: 'a', graceMs: 0 }, { ...OWN, staff: 'yes' })).status).toBe(202);
  });

  it('is what the guards of the application say', async () => {
    const guard = { provide: APP_GUARD, useValue: { canActivate: () => false } };
    const { get } = await serveDashboard({ metadata: { providers: [guard] } });
    for (const route of ROUTES) expect([route, (await get(route)).status]).toEqual([route, 403]);
  });
});

describe('actions', () => {
  it('are none unless they are opened: a hidden action is refused by the server', async () => {
    const { get, act, locks } = await serveDashboard();
    const lease = await locks.acquire('order/1');
    expect((await stateOf(await get('/locks/api/state'))).actions).toEqual([]);
    expect(await servedActions(act)).toEqual([]);
    expect(lease.state).toBe('held');
    await lease.release();
  });

  it('are those that authorize allows', async () => {
    const authorize = (_context: ExecutionContext, action: string) => action !== 'forget';
    const { get, act } = await serveDashboard({ options: { authorize, actions: ['revoke', 'forget'] } });
    expect((await stateOf(await get('/locks/api/state'))).actions).toEqual(['revoke']);
    expect((await act('forget', { id: 'job' })).status).toBe(403);
  });

  it('take a key away, say by whom, and leave an event', async () => {
    const { get, act, locks } = await serveDashboard({ options: { actions: ['revoke'], who: () => 'ada\u202e' } });
    await get('/locks/api/state');
    const lease = await locks.acquire('order/1');
    const revoked = new Promise((resolve) => lease.signal.addEventListener('abort', resolve));
    expect((await act('revoke', { id: 'order/1', graceMs: 60_000 })).status).toBe(202);
    await revoked;
    expect((await act('revoke', { id: 'order/2', graceMs: 0 })).status).toBe(409);
    const key = await get('/locks/api/key?id=order%2F1');
    expect(await key.json()).toMatchObject({ revocation: { key: 'order/1', graceMs: 60_000 } });
    await lease.release();
    await vi.waitFor(async () => {
      const { process, revocation } = await stateOf(await get('/locks/api/state'));
      expect(revocation).toBeNull();
      const texts = process.events.map(({ what }) => what);
      expect(texts).toContain('revoke by ada\\u202e, grace 60000 ms');
      expect(texts).toContain('the key was revoked, and its holders are gone');
    }, SOON);
  });

  it.each([
    ['a form of another site', { 'content-type': 'text/plain', 'sec-fetch-site': 'cross-site' }],
    ['another type', { ...OWN, 'content-type': 'text/plain' }],
    ['a type that only begins like it', { ...OWN, 'content-type': 'application/jsonp' }],
    ['no header of the page', { 'content-type': 'application/json', 'sec-fetch-site': 'same-origin' }],
    ['another site', { ...OWN, 'sec-fetch-site': 'cross-site' }],
    ['a neighbour on the same site', { ...OWN, 'sec-fetch-site': 'same-site' }],
    ['nowhere, by Sec-Fetch-Site', { ...OWN, 'sec-fetch-site': 'none' }],
    [
      'another origin, over plain HTTP',
      { 'content-type': OWN['content-type'], 'x-locks-page': '1', origin: 'http://evil.example' },
    ],
    ['an origin that is hidden', { 'content-type': OWN['content-type'], 'x-locks-page': '1', origin: 'null' }],
    ['no browser', { 'content-type': OWN['content-type'], 'x-locks-page': '1' }],
  ])('are refused from %s', async (_from, headers) => {
    const { act, locks } = await serveDashboard({ options: { actions: ['revoke'] } });
    const lease = await locks.acquire('order/1');
    expect((await act('revoke', { id: 'order/1', graceMs: 0 }, headers as Record<string, string>)).status).toBe(403);
    expect(lease.state).toBe('held');
    await lease.release();
  });

  it('are done for the page over plain HTTP, and for origins that are allowed', async () => {
    const { act, url } = await serveDashboard({
      options: { actions: ['revoke'], allowedOrigins: ['https://ops.example'] },
    });
    const plain = { 'content-type': 'application/json; charset=utf-8', 'x-locks-page': '1' };
    expect((await act('revoke', { id: 'a', graceMs: 0 }, { ...plain, origin: url })).status).toBe(202);
    const allowed = { ...plain, origin: 'https://ops.example', 'sec-fetch-site': 'cross-site' };
    await vi.waitFor(async () => expect((await act('revoke', { id: 'a', graceMs: 0 }, allowed)).status).toBe(202));
  });

  it.each([-1, 60_001, '5', undefined, null])('are refused with the grace period %s', async (graceMs) => {
    const { act } = await serveDashboard({ options: { actions: ['revoke'] } });
    expect((await act('revoke', { id: 'order/1', graceMs })).status).toBe(400);
  });

  it('resign only where this instance leads, and forget only what is known', async () => {
    const { act } = await serveDashboard({ options: { actions: ['resign', 'forget'] } });
    expect((await act('resign', { id: 'poller' })).status).toBe(409);
    expect((await act('forget', { id: 'report' })).status).toBe(404);
    expect((await act('forget', {})).status).toBe(400);
    expect((await act('resign', { connection: 'none', id: 'poller' })).status).toBe(404);
  });

  it('end the term of a leader, and write a line of it', async () => {
    const warn = vi.spyOn(Logger.prototype, 'warn').mockImplementation(() => {});
    const { app, get, act } = await serveDashboard({ options: { actions: ['resign'], who: () => 'ada' } });
    const term = await app.get(LeaderElectionService).campaign('poller');
    await get('/locks/api/state');
    expect((await act('resign', { id: 'poller' })).status).toBe(202);
    await vi.waitFor(() => expect(term.isHeld()).toBe(false));
    expect(warn.mock.calls.map(([line]) => String(line))).toContain('resign of "poller" by ada');
  });

  it('forget the record of a job', async () => {
    const { app, act } = await serveDashboard({ options: { actions: ['forget'] } });
    const forget = vi.spyOn(app.get(CronRunsService), 'forget').mockResolvedValue(true);
    expect((await act('forget', { id: 'report' })).status).toBe(202);
    expect(forget).toHaveBeenCalledWith('report');
  });

  it('end with the application', async () => {
    const { app, act, locks } = await serveDashboard({ options: { actions: ['revoke'] } });
    const lease = await locks.acquire('order/1');
    lease.signal.addEventListener('abort', () => {});
    expect((await act('revoke', { id: 'order/1', graceMs: 60_000 })).status).toBe(202);
    void lease.release();
    await app.close();
  });
});

describe('data', () => {
  it('is not given to a page of another origin, however generous CORS is', async () => {
    const { get } = await serveDashboard({ configure: (app) => app.enableCors({ origin: true, credentials: true }) });
    expect(
      (await get('/locks/api/state', { 'sec-fetch-site': 'cross-site', origin: 'http://evil.example' })).status,
    ).toBe(403);
    expect((await get('/locks/api/state', { origin: 'http://evil.example' })).status).toBe(403);
    expect((await get('/locks/api/state', { 'sec-fetch-site': 'same-origin' })).status).toBe(200);
  });

  it('is one bounded survey a second, however many look', async () => {
    const { get, backend } = await serveDashboard();
    const began = performance.now();
    const answers = await Promise.all(Array.from({ length: 200 }, () => get('/locks/api/state')));
    const seconds = Math.ceil((performance.now() - began) / 1_000);
    expect(answers.every(({ status }) => status === 200)).toBe(true);
    expect(backend.questions.length).toBeGreaterThan(0);
    expect(backend.questions.length).toBeLessThanOrEqual(1 + seconds);
    expect(backend.questions.filter(isUnbounded)).toEqual([]);
  });

  it('is one bounded survey a second, however many texts are searched for', async () => {
    const { get, backend } = await serveDashboard();
    backend.isTruncated = true;
    for (let at = 0; at < 600; at++) backend.cluster.set(`many/${at}`, { holders: [{}] });
    const texts = ['', 'order/', 'many/59', 'stock/', 'seat/'];
    const search = (text: string) => get(`/locks/api/state?search=${encodeURIComponent(text)}`).then(stateOf);
    expect((await search('')).isTruncated).toBe(true);
    const began = performance.now();
    await expect.poll(async () => (await search('many/59')).keys.length, { timeout: 30_000 }).toBe(11);
    await Promise.all(texts.map(search));
    const seconds = Math.ceil((performance.now() - began) / 1_000);
    // Below the names of the service, a survey of a text asks for the same again, within its bounds.
    const surveys = backend.questions.filter(({ prefix = '' }) => !/^(#jobs\/)?shop\//.test(prefix));
    expect(surveys.some(({ prefix }) => prefix === 'many/59')).toBe(true);
    expect(surveys.length).toBeLessThanOrEqual(2 + seconds);
    expect(backend.questions.filter(isUnbounded)).toEqual([]);
  });

  it('says that the answer to a search is awaited until its survey has answered', async () => {
    const { get, backend } = await serveDashboard();
    backend.isTruncated = true;
    for (let at = 0; at < 600; at++) backend.cluster.set(`many/${at}`, { holders: [{}] });
    const mayAnswer = deferred();
    const { survey } = backend;
    vi.spyOn(backend, 'survey').mockImplementation(async (question) => {
      if (question.prefix === 'many/59') await mayAnswer.promise;
      return survey.call(backend, question);
    });
    const search = async (text: string) => {
      const { keys, isSearchAwaited } = await stateOf(await get(`/locks/api/state?search=${text}`));
      return [keys.length, isSearchAwaited];
    };
    expect(await search('')).toEqual([200, false]);
    expect(await search('many/59')).toEqual([1, true]);
    mayAnswer.resolve();
    await expect.poll(() => search('many/59'), SOON).toEqual([11, false]);
  });

  it('says why its survey failed, until one has answered', async () => {
    const { get, backend } = await serveDashboard();
    backend.isTruncated = true;
    for (let at = 0; at < 600; at++) backend.cluster.set(`many/${at}`, { holders: [{}] });
    let fault: Error | undefined = new Error('no rights');
    const { survey } = backend;
    vi.spyOn(backend, 'survey').mockImplementation(async (question) => {
      if (question.prefix === 'many/59' && fault) throw fault;
      return survey.call(backend, question);
    });
    const search = async (text: string) => {
      const {
        keys,
        fault: overview,
        isSearchAwaited,
        searchFault,
      } = await stateOf(await get(`/locks/api/state?search=${text}`));
      return { keys: keys.length, overview, isSearchAwaited, searchFault };
    };
    const found = { overview: null, isSearchAwaited: false };
    await expect.poll(() => search('many/59'), SOON).toEqual({ ...found, keys: 1, searchFault: 'no rights' });
    expect(await search('')).toEqual({ ...found, keys: 200, searchFault: null });
    fault = undefined;
    await expect.poll(() => search('many/59'), SOON).toEqual({ ...found, keys: 11, searchFault: null });
  });

  it.each([
    ['outside of the base path', '/other/app', {}],
    ['of keys with other names', 'many/59', { redactKey: (key: string) => `#${key.length}` }],
  ])('begins no survey %s', async (_, text, options) => {
    const { get, backend } = await serveDashboard({ options });
    backend.isTruncated = true;
    for (let at = 0; at < 600; at++) backend.cluster.set(`many/${at}`, { holders: [{}] });
    const found = await stateOf(await get(`/locks/api/state?search=${encodeURIComponent(text)}`));
    expect(found.isTruncated).toBe(true);
    expect(new Set(backend.questions.map(({ prefix = '' }) => prefix))).toEqual(new Set(['']));
  });

  it('includes the absolute keys of the option paths, which no survey finds', async () => {
    const paths = ['/curator/till', '/curator/pool', '/curator/free'];
    const { get, backend } = await serveDashboard({ options: { paths } });
    vi.spyOn(backend, 'survey').mockResolvedValue({ keys: [], queues: [], isTruncated: false });
    backend.cluster.set('/curator/till', { holders: [{ label: 'Till.open' }], waiters: [{}, {}] });
    backend.cluster.set('/curator/pool', { holders: Array(4).fill({ mode: 'permit' }) });
    const state = await stateOf(await get('/locks/api/state'));
    expect(state).toMatchObject({ fault: null, total: 2, held: 5, waiting: 2 });
    const keys = state.keys.map(({ key, kind, holding, waiting }) => [key, kind, holding, waiting]);
    expect(keys).toEqual([
      ['/curator/till', 'lock', 1, 2],
      ['/curator/pool', 'semaphore', 4, 0],
    ]);
    expect(state.keys.map(({ holders }) => holders.length)).toEqual([1, 3]);
    const key = (await (await get('/locks/api/key?id=%2Fcurator%2Ftill')).json()) as { holds: unknown[] };
    expect(key.holds).toMatchObject([{ owner: { label: 'Till.open' }, to: null }]);
  });

  it('costs nothing before the first poll', async () => {
    const { get, backend } = await serveDashboard();
    await get('/locks');
    await get('/locks/assets/main.js');
    expect(backend.questions).toEqual([]);
  });

  it('is bounded, and shows what cannot be seen as escapes', async () => {
    const { get, backend } = await serveDashboard();
    backend.cluster.set('a\u202eb', { holders: [{ label: `x${'y'.repeat(1_000)}`, host: 'line\nbreak' }] });
    for (let at = 0; at < 450; at++) backend.cluster.set(`many/${at}`, { holders: [{}] });
    const state = await stateOf(await get('/locks/api/state'));
    expect(state.total).toBe(451);
    expect(state.keys).toHaveLength(200);
    const found = await stateOf(await get('/locks/api/state?search=xyy'));
    expect(found.keys.map(({ key }) => key)).toEqual(['a\\u202eb']);
    expect(found.keys[0]!.holders[0]!.owner).toEqual({
      label: `x${'y'.repeat(255)}…`,
      host: 'line\\u000abreak',
      pid: 17,
    });
  });

  it('has no keys in the runs of jobs where keys are redacted, and still forgets them', async () => {
    const options = { redactKey: () => '…', actions: ['forget' as const] };
    const { app, get, act } = await serveDashboard({ options });
    const run = {
      name: 'report',
      key: 'report/4711471147114711',
      tick: undefined,
      state: 'failed',
      runId: 'a',
      attempt: 1,
    } as const;
    const times = { startedAt: new Date(), durationMs: 3, isRunning: false, runner: { host: 'shop-1', pid: 7 } };
    const runs = app.get(CronRunsService);
    vi.spyOn(runs, 'peek').mockResolvedValue([{ ...run, ...times, error: '"report/4711471147114711" failed' }]);
    const text = await (await get('/locks/api/state?view=cron')).text();
    expect(text).toContain('"name":"report"');
    expect(text).not.toContain('4711471147114711');
    const forget = vi.spyOn(runs, 'forget').mockResolvedValue(true);
    const [shown] = (JSON.parse(text) as StateAnswer).runs ?? [];
    expect((await act('forget', { id: shown?.id })).status).toBe(202);
    expect(forget).toHaveBeenCalledWith('report/4711471147114711');
  });

  it('names no server where hosts are hidden', async () => {
    const { get, backend, app } = await serveDashboard({ options: { showHosts: false } });
    await get('/locks/api/state');
    backend.fault = new Error('connect ECONNREFUSED secret-host:2181');
    const { origin } = connectionOf(app.get(LockService));
    const change = { state: 'suspended', before: 'connected', why: 'connect ECONNREFUSED secret-host:2181' } as const;
    const rest = { sessionId: undefined, sessionTimeoutMs: undefined, server: 'secret-host:2181' };
    channels.session.publish({ origin, at: Date.now(), ...change, ...rest } as never);
    await vi.waitFor(async () => {
      const text = await (await get('/locks/api/state')).text();
      expect(text).toContain('session suspended');
      expect((JSON.parse(text) as StateAnswer).fault).toBe('Error');
      expect(text).not.toContain('secret-host');
    }, SOON);
  });

  it('has other names for keys that are redacted, and no host names where they are hidden', async () => {
    const { get, act, backend, locks } = await serveDashboard({
      options: { redactKey: (key) => key.replace(/\d+/g, '…'), showHosts: false, actions: ['revoke'] },
    });
    backend.cluster.set('customer/4711471147114711', { holders: [{ label: 'Orders.place', host: 'secret-host' }] });
    const text = await (await get('/locks/api/state')).text();
    expect(text).not.toContain('4711471147114711');
    expect(text).not.toContain('secret-host');
    const [shown] = (JSON.parse(text) as StateAnswer).keys;
    expect(shown!.key).toBe('customer/…');
    const key = await (await get(`/locks/api/key?id=${shown!.id}`)).text();
    expect(JSON.parse(key)).toMatchObject({ key: 'customer/…', contenders: [{ state: 'held' }] });
    expect(key).not.toContain('4711471147114711');
    expect((await get('/locks/api/key?id=customer%2F4711471147114711')).status).toBe(404);
    const revoking = vi.spyOn(locks, 'revoke');
    expect((await act('revoke', { id: shown!.id, graceMs: 0 })).status).toBe(202);
    expect(revoking).toHaveBeenCalledWith('customer/4711471147114711', expect.objectContaining({ graceMs: 0 }));
    expect(await (await get('/locks/api/state')).text()).not.toContain('4711471147114711');
  });

  it('says that it is older when the servers do not answer', async () => {
    const { get, backend } = await serveDashboard();
    backend.cluster.set('order/1', { holders: [{}] });
    await get('/locks/api/state');
    backend.fault = new Error('no server');
    await vi.waitFor(async () => {
      const { fault, keys } = await stateOf(await get('/locks/api/state'));
      expect(fault).toBe('no server');
      expect(keys).toHaveLength(1);
    }, SOON);
  });

  it('follows this process: rates, waits, holds, and each hold of a key', async () => {
    const { get, locks } = await serveDashboard();
    await get('/locks/api/state');
    await locks.using('order/1', async () => {}, { label: 'Orders.place' });
    await locks.using('order/1', async () => {}, { label: 'Orders.place' });
    await expect(
      locks.using('order/1', () => locks.mutex('order/1', { localLine: false }).tryAcquire(), {}),
    ).rejects.toThrow('already held');
    const { process } = await stateOf(await get('/locks/api/state'));
    const sum = (counts: readonly number[]) => counts.reduce((total, count) => total + count, 0);
    expect(sum(process.waits.counts)).toBe(3);
    expect(sum(process.holds.counts)).toBe(3);
    expect(process.state).toBe('connected');
    const key = (await (await get('/locks/api/key?id=order%2F1')).json()) as { holds: { to: number | null }[] };
    expect(key.holds).toHaveLength(3);
    expect(key.holds.every(({ to }) => to !== null)).toBe(true);
  });

  it('has leases that were lost, waits that timed out, and changes of the session', async () => {
    const { get, locks, backend } = await serveDashboard();
    await get('/locks/api/state');
    const lease = await locks.acquire('order/1', { label: 'Orders.place' });
    await expect(locks.acquire('order/1', { waitMs: 5, label: 'Orders.cancel' })).rejects.toThrow('order/1');
    backend.leaseOn('order/1')!.lose(new LockLostError('order/1', 'the test says so'));
    await vi.waitFor(async () => {
      // The work goes on. The key may be another one's already.
      const key = (await (await get('/locks/api/key?id=order%2F1')).json()) as { holds: { to: number | null }[] };
      expect(key.holds.map(({ to }) => to)).toEqual([expect.any(Number)]);
    }, SOON);
    await lease.release();
    const fields = { sessionId: undefined, sessionTimeoutMs: undefined, server: undefined };
    const change = { state: 'suspended', before: 'connected', why: 'no server', ...fields } as const;
    channels.session.publish({ connection: 'default', origin: locks.origin, ...change });
    channels.session.publish({ connection: 'default', origin: { ...locks.origin }, ...change, state: 'lost' });
    const { process } = await stateOf(await get('/locks/api/state'));
    expect(process).toMatchObject({ lost: 1, timeouts: 1 });
    expect(process.states.map(({ state }) => state)).toEqual(['connected', 'suspended']);
    const texts = process.events.map(({ what, key }) => `${key}: ${what}`);
    expect(texts).toContainEqual(expect.stringContaining('order/1: Orders.place has lost its lease'));
    expect(texts).toContainEqual(
      expect.stringMatching(/^order\/1: Orders\.cancel was not granted after \d+ ms: timeout$/),
    );
    expect(texts).toContain('null: session suspended: no server');
  });

  it('has no waits for items, for others and for leadership among the waits for a holder', async () => {
    const { app, get } = await serveDashboard();
    await get('/locks/api/state');
    const coordination = app.get(CoordinationService);
    expect(await coordination.queue<string>('mails').take({ waitMs: 1 })).toBeNull();
    await coordination.queue<string>('mails').put('x');
    await (await coordination.queue<string>('mails').take())?.ack();
    const gate = coordination.doubleBarrier('gate', { count: 2 });
    const members = await Promise.all([gate.enter(), gate.enter()]);
    await Promise.all(members.map((member) => member.goOut()));
    await (await app.get(LeaderElectionService).campaign('poller')).resign();
    const { process } = await stateOf(await get('/locks/api/state'));
    expect(process.waits.counts.every((count) => count === 0)).toBe(true);
    expect(process).toMatchObject({ timeouts: 0 });
    expect(process.events.filter(({ what }) => what.includes('not granted'))).toEqual([]);
    expect(process.holds.counts.reduce((total, count) => total + count, 0)).toBe(4);
  });

  it('ends its subscriptions with the application', async () => {
    const { app, get } = await serveDashboard();
    expect(channels.requestStart.hasSubscribers).toBe(false);
    await get('/locks/api/state');
    expect(channels.requestStart.hasSubscribers).toBe(true);
    await app.close();
    for (const channel of Object.values(channels)) expect(channel.hasSubscribers).toBe(false);
  });

  it('has the latest runs of jobs only for the view of cron, and takes no lock for them', async () => {
    const { app, get, backend } = await serveDashboard();
    const runs = app.get(CronRunsService);
    const run = { ...RUN, error: `failed\u202e ${'x'.repeat(300)}`, isRunning: false };
    const peek = vi.spyOn(runs, 'peek').mockResolvedValue([run]);
    const [list, last] = [vi.spyOn(runs, 'list'), vi.spyOn(runs, 'last')];
    expect((await stateOf(await get('/locks/api/state'))).runs).toBeNull();
    expect(peek).not.toHaveBeenCalled();
    const acquire = vi.spyOn(backend, 'acquire');
    const [shown] = (await stateOf(await get('/locks/api/state?view=cron'))).runs!;
    expect(shown).toMatchObject({
      name: 'Reports.run',
      state: 'failed',
      startedAt: 2_000,
      durationMs: 30,
      tick: 1_000,
    });
    expect(shown!.error).toMatch(/^failed\\u202e x+…$/);
    for (const call of [list, last, acquire]) expect(call).not.toHaveBeenCalled();
  });

  it('has the units of stocks only for the view of stocks', async () => {
    const { get, locks } = await serveDashboard();
    await locks.stock('tickets', { segments: 4 }).restock(10);
    expect((await stateOf(await get('/locks/api/state'))).stocks).toBeNull();
    const { stocks } = await stateOf(await get('/locks/api/state?view=stock'));
    expect(stocks).toEqual([{ key: 'tickets', segments: [3, 3, 2, 2] }]);
  });
});

describe('the module', () => {
  it('takes its options from a factory', async () => {
    const page = LockDashboardModule.forRootAsync({
      path: 'ops/locks',
      useFactory: async () => ({ assets: assetsFolder(), publicPath: '/behind/proxy' }),
    });
    const { get } = await serveDashboard({ page });
    expect(await (await get('/ops/locks')).text()).toContain('<base href="/behind/proxy/">');
  });

  it('has a path of its own in each application', async () => {
    const one = await serveDashboard({ options: { path: 'one' } });
    const two = await serveDashboard({ options: { path: 'two' } });
    expect([(await one.get('/one')).status, (await one.get('/two')).status]).toEqual([200, 404]);
    expect([(await two.get('/one')).status, (await two.get('/two')).status]).toEqual([404, 200]);
  });

  it('does nothing where there is no HTTP', async () => {
    const imports = [LockModule.forRoot({ service: 'shop', backend: scene() }), LockDashboardModule.forRoot()];
    const context = await NestFactory.createApplicationContext({ module: class Root {}, imports }, { logger: false });
    await expect(context.close()).resolves.toBeUndefined();
  });

  it('shows the connections that it is told to', async () => {
    const other = LockModule.forRoot({ name: 'other', service: 'shop', backend: scene() });
    const all = await serveDashboard({ metadata: { imports: [other] } });
    expect((await stateOf(await all.get('/locks/api/state'))).connections).toEqual(['default', 'other']);
    expect((await stateOf(await all.get('/locks/api/state?connection=other'))).connection).toBe('other');
    const again = LockModule.forRoot({ name: 'other', service: 'shop', backend: scene() });
    const one = await serveDashboard({ metadata: { imports: [again] }, options: { connections: ['other'] } });
    expect((await stateOf(await one.get('/locks/api/state'))).connections).toEqual(['other']);
  });

  it('keeps the document of an application with other controllers out of the way', async () => {
    @Controller()
    class Home {
      @Get('locks-of-mine')
      mine() {
        return 'mine';
      }
    }
    const { get } = await serveDashboard({ metadata: { controllers: [Home] } });
    expect(await (await get('/locks-of-mine')).text()).toBe('mine');
  });

  it.each([
    [{ actions: ['drop'] }, "actions must be an array of 'revoke', 'resign' or 'forget', got an array of 1"],
    [{ allowedOrigins: ['https://a.example/'] }, 'allowedOrigins must be'],
    [{ paths: ['relative'] }, 'paths must be'],
    [{ paths: Array(21).fill('/k') }, 'paths must be at most 20 keys'],
    [{ paths: ['/a/../b'] }, 'paths'],
    [{ authorise: () => true }, 'unknown field "authorise"'],
    [{ authorize: true }, 'authorize must be a function'],
    [{ connections: ['none'] }, 'connections has "none": import LockModule.forRoot'],
  ])('refuses the options %j', async (options, message) => {
    await expect(serveDashboard({ options: options as never })).rejects.toThrow(message);
  });

  it.each([{ path: '/locks' }, { path: '' }, { path: 'a b' }, { guards: 'staff' }])('refuses the extra %j', (extra) => {
    expect(() => LockDashboardModule.forRoot(extra as never)).toThrow(/LockDashboardModule: (path|guards) must be/);
  });

  it('says where the files of the page belong when they are not there', async () => {
    const { app } = await serveDashboard({ options: { assets: '/nowhere' } });
    const { Dashboard } = await import('../../lib/dashboard/dashboard.js');
    const { resolveDashboardOptions } = await import('../../lib/dashboard/dashboard.options.js');
    const dashboard = new Dashboard(resolveDashboardOptions({ assets: '/nowhere' }), false);
    expect(() => dashboard.files).toThrow(/are not in .*nowhere.*option assets/s);
    await app.close();
  });
});

describe('planted defects', () => {
  it('are found: an action that is hidden, and served all the same', async () => {
    vi.spyOn(DashboardAccess.prototype, 'enter').mockResolvedValue();
    const { act } = await serveDashboard();
    expect(await servedActions(act)).toContain('revoke');
  });

  it('are found: a guard on the document only', async () => {
    const enter = vi.spyOn(DashboardAccess.prototype, 'enter');
    enter.mockImplementation(async (context) => {
      const { url } = context.switchToHttp().getRequest<{ url: string }>();
      if (url === '/locks') throw new ForbiddenException();
    });
    const { get } = await serveDashboard();
    expect(await openRoutes(get)).toEqual(ROUTES.slice(1));
  });

  it('are found: a survey without a bound', async () => {
    const { backend, locks } = await serveDashboard();
    await locks.survey({ mostKeys: 10_000 });
    expect(backend.questions.filter(isUnbounded)).toHaveLength(1);
  });
});

const RUN: JobRun = {
  name: 'Reports.run',
  key: 'Reports.run',
  tick: new Date(1_000),
  state: 'failed',
  runner: { host: 'shop-1', pid: 7 },
  runId: 'a',
  attempt: 1,
  startedAt: new Date(2_000),
  durationMs: 30,
  error: undefined,
};

/** Returns the routes that answer a request that has no right to them. */
async function openRoutes(get: DashboardApp['get']): Promise<string[]> {
  const statuses = await Promise.all(ROUTES.map(async (route) => (await get(route)).status));
  return ROUTES.filter((_route, at) => statuses[at] !== 403);
}

/** Returns the actions that the server does not refuse. */
async function servedActions(act: DashboardApp['act']): Promise<string[]> {
  const actions = ['revoke', 'resign', 'forget', 'none', 'view'];
  const statuses = await Promise.all(actions.map(async (one) => (await act(one, { id: 'a', graceMs: 0 })).status));
  return actions.filter((_action, at) => statuses[at] !== 403);
}

function isUnbounded({ mostKeys, mostContenders, withinMs }: SurveyQuestion): boolean {
  return !(mostKeys <= 500 && mostContenders <= 3 && withinMs <= 200);
}
