import { expect, it } from 'vitest';
import type { KeyAnswer } from '../../lib/dashboard/answers.js';
import { CoordinationService, LeaderElectionService } from '../../lib/index.js';
import { serveDashboard } from './dashboard-app.js';

it('the hand-overs of a lock are not those of an election, a job, a queue or a barrier of its name', async () => {
  const { app, get, locks, backend } = await serveDashboard();
  const holdsOf = async (id: string) => ((await (await get(`/locks/api/key?id=${id}`)).json()) as KeyAnswer).holds;
  backend.cluster.set('shop/report', { kind: 'election', holders: [{ label: 'candidate' }] });
  backend.cluster.set('#jobs/shop/report', { holders: [{ label: 'job' }] });
  const { keys, elections } = (await (await get('/locks/api/state')).json()) as Record<string, { key: string }[]>;
  expect([keys, elections].map((shown) => shown?.map(({ key }) => key))).toEqual([['report'], ['report']]);
  const coordination = app.get(CoordinationService);
  await coordination.queue<string>('report').put('x');
  await (await coordination.queue<string>('report').take())?.ack();
  const gate = coordination.doubleBarrier('report', { count: 1 });
  await (await gate.enter()).goOut();
  await (await app.get(LeaderElectionService).campaign('report')).resign();
  expect(await holdsOf('report')).toEqual([]);

  await locks.using('report', () => {}, { label: 'Reports.write' });
  const permits = await locks.semaphore('pool', { permits: 4 }).acquire({ permits: 2, label: 'Pool.use' });
  await permits.release();
  expect(await holdsOf('report')).toMatchObject([{ owner: { label: 'Reports.write' } }]);
  expect(await holdsOf('pool')).toMatchObject([{ owner: { label: 'Pool.use' } }]);
});
