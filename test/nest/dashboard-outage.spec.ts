import { Logger } from '@nestjs/common';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { deferred } from '../../lib/async/deferred.js';
import type { StateAnswer } from '../../lib/dashboard/answers.js';
import { CronRunsService, LockConfigurationError, LockUnavailableError } from '../../lib/index.js';
import type { LockDashboardOptions } from '../../lib/dashboard/index.js';
import { serveDashboard } from './dashboard-app.js';
import type { DashboardApp } from './dashboard-app.js';

afterEach(() => vi.restoreAllMocks());

const stateOf = async ({ get }: DashboardApp, query = '') =>
  (await (await get(`/locks/api/state${query}`)).json()) as StateAnswer;

describe('a path that cannot be looked at', () => {
  const refusing = async (error: unknown, options: LockDashboardOptions = {}) => {
    const app = await serveDashboard({ options: { paths: ['/curator/till', '/closed/4711'], ...options } });
    app.backend.cluster.set('order/1', { holders: [{}] });
    app.backend.cluster.set('/curator/till', { holders: [{}] });
    const { lineOf } = app.backend;
    vi.spyOn(app.backend, 'lineOf').mockImplementation(async (key) => {
      if (key === '/closed/4711') throw error;
      return lineOf.call(app.backend, key);
    });
    return app;
  };

  it.each([
    [new LockConfigurationError('absolute keys are of ZooKeeper'), 'absolute keys are of ZooKeeper'],
    [new LockUnavailableError('no rights'), 'no rights'],
  ])('leaves the rest of the overview: %s', async (error, message) => {
    const app = await refusing(error);
    const { fault, pathFault, keys } = await stateOf(app);
    expect([fault, pathFault]).toEqual([null, `/closed/4711: ${message}`]);
    expect(new Set(keys.map(({ key }) => key))).toEqual(new Set(['order/1', '/curator/till']));
  });

  it('is named as keys are, and its error not repeated where messages are hidden', async () => {
    const app = await refusing(new LockConfigurationError('/closed/4711 on shop-7'), {
      redactKey: (key) => key.replace(/\d+/, '…'),
    });
    const { pathFault } = await stateOf(app);
    expect(pathFault).toBe('/closed/…: LockConfigurationError');
  });
});

it('a survey that is silent does not keep the state of the session from the page', async () => {
  const app = await serveDashboard({ options: { paths: ['/silent'] } });
  app.backend.cluster.set('order/1', { holders: [{}] });
  const { lineOf } = app.backend;
  const silence = deferred<never>();
  vi.spyOn(app.backend, 'lineOf').mockImplementation((key) =>
    key === '/silent' ? silence.promise : lineOf.call(app.backend, key),
  );
  const { fault, process } = await stateOf(app);
  expect([fault, process.state]).toEqual(['the servers have not answered within 2000 ms', 'connected']);
}, 10_000);

describe('the view of a key', () => {
  it('is a 503 while no server answers, and no defect in the log', async () => {
    const defects = vi.spyOn(Logger.prototype, 'error').mockImplementation(() => {});
    const { get, backend } = await serveDashboard();
    const lineOf = vi.spyOn(backend, 'lineOf');
    lineOf.mockRejectedValue(new LockUnavailableError('no server answered'));
    const refused = await get('/locks/api/key?id=a');
    expect([refused.status, await refused.json()]).toMatchObject([503, { message: 'no server answered' }]);
    lineOf.mockReturnValue(deferred<never>().promise);
    const silent = await get('/locks/api/key?id=b');
    expect([silent.status, await silent.json()]).toMatchObject([503, { message: expect.stringContaining('2000 ms') }]);
    expect(defects).not.toHaveBeenCalled();
  });

  it('is a 404 for a key that this backend has not', async () => {
    const { get, backend } = await serveDashboard({ options: { showHosts: false } });
    vi.spyOn(backend, 'lineOf').mockRejectedValue(new LockConfigurationError('ask shop-7'));
    const answer = await get('/locks/api/key?id=%2Fabsolute');
    expect([answer.status, await answer.json()]).toMatchObject([404, { message: 'LockConfigurationError' }]);
  });
});

it('runs and stocks are not known, rather than none, while they cannot be read', async () => {
  const app = await serveDashboard();
  expect(await stateOf(app, '?view=cron')).toMatchObject({ runs: [], stocks: null });
  vi.spyOn(app.app.get(CronRunsService), 'peek').mockRejectedValue(new LockUnavailableError('no server answered'));
  vi.spyOn(app.backend.records, 'list').mockRejectedValue(new LockUnavailableError('no server answered'));
  await expect.poll(async () => (await stateOf(app, '?view=cron')).runs).toBeNull();
  expect((await stateOf(app, '?view=stock')).stocks).toBeNull();
});
