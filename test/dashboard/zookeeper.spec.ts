import { expect, it, onTestFinished } from 'vitest';
import { zookeeper } from '../../lib/index.js';
import { EmbeddedZooKeeper } from '../../lib/testing/index.js';
import { browsedApp, browser, live } from './browsed-app.js';

const open = browser();

it('shows what another instance holds on ZooKeeper, and revokes it there', async () => {
  const server = await EmbeddedZooKeeper.start();
  onTestFinished(() => server.stop());
  const { connectString } = server;
  const on = zookeeper({ connectString });
  const [one, other] = [await browsedApp({ actions: ['revoke'] }, { on }), await browsedApp({}, { on })];
  await other.locks.stock('tickets', { segments: 4 }).restock(40);
  const lease = await other.locks.acquire('order/1', { label: 'Orders.hung' });
  const revoked = new Promise((resolve) => lease.signal.addEventListener('abort', resolve));
  const { page } = await open(one.url);
  await live(page);
  await page.getByText('Orders.hung').waitFor();
  const waiting = one.locks.acquire('order/1', { label: 'Orders.next', waitMs: 60_000 });
  await page.locator('table.keys').getByText('1 waiting').waitFor();
  await page.getByRole('link', { name: 'order/1' }).click();
  await page.getByText('Orders.next').waitFor();
  await page.getByRole('button', { name: 'Revoke …' }).click();
  await page.getByLabel('Type the name').fill('order/1');
  await page.keyboard.press('Enter');
  await revoked;
  await lease.release();
  await (await waiting).release();
  await page.getByText('Free: nobody holds it').waitFor();
  // The hold of the other instance, and the exact one of this instance.
  await page.locator('table.plain', { hasText: 'Orders.hung' }).getByText('Orders.next').waitFor();
  await page.getByRole('link', { name: 'Stock' }).click();
  await page.getByText('40 units left').waitFor();
  await page.getByRole('link', { name: 'This instance' }).click();
  await page.getByText(connectString).waitFor();
  expect(await page.locator('dl.facts').innerText()).toContain('zookeeper');
});
