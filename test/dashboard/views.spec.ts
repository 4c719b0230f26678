import { describe, expect, it, vi } from 'vitest';
import { CronRunsService, LockUnavailableError } from '../../lib/index.js';
import { recordLoss } from '../support/recorded-loss.js';
import { browsedApp, browser, live } from './browsed-app.js';

const open = browser();

describe('a view', () => {
  it('draws what the last minutes were like', async () => {
    const { url, locks } = await browsedApp();
    const { page } = await open(url);
    await live(page);
    const lease = await locks.acquire('order/1');
    await expect.poll(() => page.locator('section.tiles svg.spark path').count()).toBeGreaterThan(0);
    await lease.release();
  });

  it('shows who leads, for how long, and who is behind', async () => {
    const { url, backend } = await browsedApp();
    backend.cluster.set('poller', {
      kind: 'election',
      holders: [{ host: 'shop-7', pid: 42, ageMs: 125_000 }],
      waiters: [{}, {}],
    });
    const { page } = await open(`${url}#/leaders`);
    await live(page);
    const election = page.locator('article', { hasText: 'poller' });
    for (const text of ['shop-7', '42', '2 min', '2 candidates']) {
      await expect.poll(() => election.getByText(text).count()).toBeGreaterThan(0);
    }
  });

  it('shows the last run of each job, with its state and its error', async () => {
    const { url, app } = await browsedApp();
    const run = { key: 'k', tick: undefined, attempt: 2, startedAt: new Date(), runner: { host: 'shop-7', pid: 42 } };
    vi.spyOn(app.get(CronRunsService), 'peek').mockResolvedValue([
      { ...run, name: 'bills', runId: 'a', state: 'failed', durationMs: 3_000, error: 'no paper', isRunning: false },
      { ...run, name: 'mails', runId: 'b', state: 'running', durationMs: undefined, error: undefined, isRunning: true },
    ]);
    const { page } = await open(`${url}#/cron`);
    await live(page);
    const rowOf = (job: string) => page.locator('table.runs tr', { hasText: job });
    for (const text of ['failed', 'no paper', 'attempt 2', 'shop-7']) {
      await expect.poll(() => rowOf('bills').getByText(text).count()).toBe(1);
    }
    await expect.poll(() => rowOf('mails').getByText('running').count()).toBe(1);
  });

  it('shows the items of queues, and draws how they grow', async () => {
    const { url, backend } = await browsedApp();
    backend.queues.push({ key: 'mails', items: 7 });
    const { page } = await open(`${url}#/queues`);
    await live(page);
    const row = page.locator('tr', { hasText: 'mails' });
    await row.getByText('7', { exact: true }).waitFor();
    backend.queues[0] = { key: 'mails', items: 12 };
    await row.getByText('12', { exact: true }).waitFor();
    await expect.poll(() => row.locator('svg path').count()).toBeGreaterThan(0);
  });

  it('draws the holds of a key', async () => {
    const { url, locks } = await browsedApp();
    const { page } = await open(`${url}#/key/order%2F1`);
    await live(page);
    const lease = await locks.acquire('order/1', { label: 'Orders.place' });
    const holds = page.locator('svg.holds');
    await holds.locator('rect.open title', { hasText: 'Orders.place' }).waitFor({ state: 'attached' });
    await lease.release();
    await expect.poll(() => holds.locator('rect.over title', { hasText: 'Orders.place' }).count()).toBe(1);
  });

  it('shows the session and its margin, and each instance that has answered', async () => {
    const { url } = await browsedApp();
    const { page } = await open(`${url}#/instance`);
    await live(page);
    const session = page.locator('section.panel', { hasText: 'Session' });
    for (const text of ['connected', '0x1003a7f2c5d0004', 'zk2.internal:2181'])
      await session.getByText(text).first().waitFor();
    expect(await session.locator('svg.margin rect').count()).toBe(2);
    await session.locator('svg.strip rect.connected').waitFor({ state: 'attached' });
    const answer = { instance: { id: 'other', host: 'shop-9', pid: 9, node: 'v20' } };
    await page.route('**/api/state*', async (route) => {
      const reply = await route.fetch({ headers: { ...route.request().headers(), 'if-none-match': '' } });
      const state = (await reply.json()) as { instance: object };
      await route.fulfill({ json: { ...state, instance: { ...state.instance, ...answer.instance } } });
    });
    await page.getByText('2 instances have answered').waitFor();
    expect(await page.locator('label.instances option').allInnerTexts()).toContain('shop-9 · 9');
    // A reply that is being read when the page is closed would be an error outside of the tests.
    await page.unrouteAll({ behavior: 'wait' });
  });

  it('shows the lost leases of all instances, also of one that has ended', async () => {
    const { url, backend } = await browsedApp();
    const { page } = await open(`${url}#/instance`);
    await live(page);
    await page.getByText('No loss is recorded').waitFor();
    const named = [{ key: 'order/1', label: 'Orders.place' }, { key: '<b>order/2</b>' }];
    await recordLoss(backend, { leases: 3, named });
    const row = page.locator('table.losses tbody tr');
    const shown = ['order/1, <b>order/2</b>', 'and 1 more', 'Orders.place', 'shop-7 · pid 42', 'billing', 'expired'];
    for (const text of shown) await expect.poll(() => row.getByText(text).count()).toBeGreaterThan(0);
  });

  it('does not say that nothing was lost while that cannot be read', async () => {
    const { url, backend } = await browsedApp();
    vi.spyOn(backend.records, 'read').mockRejectedValue(new LockUnavailableError('no server answered'));
    const { page } = await open(`${url}#/instance`);
    await live(page);
    const losses = page.locator('section', { hasText: 'Lost leases of all instances' });
    await losses.getByText('Not known').waitFor();
    expect(await losses.getByText('No loss').count()).toBe(0);
  });
});
