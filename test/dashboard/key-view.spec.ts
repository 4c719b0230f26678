import { expect, it, vi } from 'vitest';
import { LockUnavailableError } from '../../lib/index.js';
import { browsedApp, browser, live } from './browsed-app.js';

const open = browser();

it('the view of a key shows what became of the cluster when the key cannot be read', async () => {
  const { url, backend } = await browsedApp();
  backend.cluster.set('order/1', { holders: [{ label: 'Orders.place' }] });
  const { page, faults } = await open(`${url}#/key/order%2F1`);
  await live(page);
  vi.spyOn(backend, 'lineOf').mockRejectedValue(new LockUnavailableError('no server answered'));
  await page.getByText('The cluster is not seen: no server answered').waitFor();
  await page.getByText('No answer: no server answered. What you see is older.').waitFor();
  expect(await page.getByRole('heading', { name: 'order/1' }).count()).toBe(1);
  expect(faults.splice(0).every((fault) => fault.includes('503'))).toBe(true);
});
