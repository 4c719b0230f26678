import { createHash } from 'node:crypto';
import { describe, expect, it, vi } from 'vitest';
import type { StateAnswer } from '../../lib/dashboard/answers.js';
import { resolveDashboardOptions } from '../../lib/dashboard/dashboard.options.js';
import type { LockDashboardOptions } from '../../lib/dashboard/index.js';
import { LockConfigurationError, LockLostError, LockUnavailableError } from '../../lib/index.js';
import { recordLoss } from '../support/recorded-loss.js';
import { serveDashboard } from './dashboard-app.js';

const redactKey = (key: string) => key.replaceAll(/\d+/g, '…');

describe('with keys redacted', () => {
  const idOn = async (options: LockDashboardOptions) => {
    const { get, backend } = await serveDashboard({ options: { redactKey, ...options } });
    backend.cluster.set('customer/4711471147114711', { holders: [{}] });
    const { keys } = (await (await get('/locks/api/state')).json()) as StateAnswer;
    return { id: keys[0]!.id, get };
  };

  it('keys have names that cannot be guessed, and that instances with one secret share', async () => {
    const secret = 'of all instances';
    const [alone, other, first, second] = await Promise.all([{}, {}, { secret }, { secret }].map(idOn));
    const guess = createHash('sha256').update('customer/4711471147114711').digest('base64url').slice(0, 22);
    expect(new Set([guess, alone!.id, other!.id, first!.id]).size).toBe(4);
    expect(second!.id).toBe(first!.id);
    expect((await second!.get(`/locks/api/key?id=${first!.id}`)).status).toBe(200);
    expect((await other!.get(`/locks/api/key?id=${alone!.id}`)).status).toBe(404);
  });

  it.each([
    ['too short', 'secret must be text of at least 16 characters, got 9 characters'],
    [17, 'secret must be text of at least 16 characters, got the number 17'],
  ])('the secret %j is refused, and not repeated', (secret, message) => {
    const options = { secret } as LockDashboardOptions;
    expect(() => resolveDashboardOptions(options)).toThrow(new LockConfigurationError(message));
  });
});

it('recorded losses name neither keys nor hosts where the page must not', async () => {
  const { get, backend } = await serveDashboard({ options: { redactKey, showHosts: false } });
  const reason = 'taken from "customer/4711471147114711" by shop-7';
  await recordLoss(backend, {
    reason,
    named: Array.from({ length: 1_000 }, () => ({ key: 'customer/4711471147114711' })),
  });
  const text = await (await get('/locks/api/state?view=instance')).text();
  const { losses } = JSON.parse(text) as StateAnswer;
  expect(losses).toMatchObject([{ owner: { host: null, pid: 42 }, reason: null }]);
  expect(losses?.[0]?.keys).toEqual(Array.from({ length: 5 }, () => 'customer/…'));
  expect(text).not.toMatch(/4711471147114711|shop-7/);
});

it('messages of errors name no host where hosts are hidden', async () => {
  const { get, act, locks, backend } = await serveDashboard({ options: { showHosts: false, actions: ['revoke'] } });
  await get('/locks/api/state');
  const lease = await locks.acquire('order/1', { label: 'Orders.place' });
  backend.leaseOn('order/1')!.lose(new LockLostError('order/1', 'taken by shop-7'));
  vi.spyOn(locks, 'revoke').mockRejectedValue(new LockUnavailableError('shop-7:2181 does not answer'));
  expect((await act('revoke', { id: 'order/2', graceMs: 0 })).status).toBe(202);
  await vi.waitFor(async () => {
    const text = await (await get('/locks/api/state')).text();
    expect(text).toContain('the revocation failed: LockUnavailableError');
    expect(text).toContain('Orders.place has lost its lease: LOCK_LOST');
    expect(text).not.toContain('shop-7');
  });
  await lease.release();
});
