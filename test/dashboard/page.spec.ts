import axe from 'axe-core';
import { Controller, Post } from '@nestjs/common';
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import type { Page } from 'playwright-core';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { CronRunsService } from '../../lib/index.js';
import { deferred } from '../../lib/async/deferred.js';
import { PLATFORMS } from '../nest/platforms.js';
import type { Platform } from '../nest/platforms.js';
import { ASSETS, browsedApp, browser, live, serveHttp, stripProxy } from './browsed-app.js';
import type { BrowsedApp } from './browsed-app.js';
import { recordLoss } from '../support/recorded-loss.js';

const open = browser();
const SOON = { timeout: 30_000 };
const VIEWS = ['locks', 'key/order%2F1', 'leaders', 'cron', 'queues', 'stock', 'instance'];
const HOSTILE = '<img src=x onerror="window.hacked=1"><script>window.hacked=1</script>';
const MOST_BYTES = 60 * 1_024;

const rowOf = (page: Page, key: string) =>
  page.locator('table.keys tbody tr', { has: page.getByRole('link', { name: key, exact: true }) });
const keysIn = (page: Page) => page.locator('table.keys tbody th').allInnerTexts();

describe('the table of locks', () => {
  it('follows an acquisition, a hand-over and a release', async () => {
    const { url, locks } = await browsedApp();
    const { page } = await open(url);
    await live(page);
    await page.getByText('Nothing is locked').waitFor();
    const first = await locks.acquire('order/1', { label: 'Orders.first' });
    const second = locks.acquire('order/1', { label: 'Orders.second' });
    await rowOf(page, 'order/1').getByText('Orders.first').waitFor();
    await first.release();
    await rowOf(page, 'order/1').getByText('Orders.second').waitFor();
    await rowOf(page, 'order/1').getByText('nobody waits').waitFor();
    await (await second).release();
    await page.getByText('Nothing is locked').waitFor();
    expect(await keysIn(page)).toEqual([]);
  });

  it('finds, sorts, and leaves out what nobody waits for', async () => {
    const { url, backend } = await browsedApp();
    backend.cluster.set('a', { holders: [{ label: 'Stock.deduct', ageMs: 9_000 }] });
    backend.cluster.set('b', { holders: [{ label: 'Orders.place', ageMs: 1_000 }], waiters: [{}, {}] });
    backend.cluster.set('c', { holders: [{ label: 'Orders.cancel', ageMs: 5_000 }], waiters: [{ ageMs: 4_000 }] });
    const { page } = await open(url);
    await live(page);
    expect(await keysIn(page)).toEqual(['b', 'c', 'a']);
    await page.locator('#sorting').selectOption('hold');
    expect(await keysIn(page)).toEqual(['a', 'c', 'b']);
    await page.locator('#sorting').selectOption('wait');
    expect(await keysIn(page)).toEqual(['c', 'b', 'a']);
    await page.getByRole('button', { name: 'Only contended' }).click();
    expect(await keysIn(page)).toEqual(['c', 'b']);
    await page.getByRole('button', { name: 'Only contended' }).click();
    await page.locator('#search').fill('orders.');
    await expect.poll(() => keysIn(page)).toEqual(['c', 'b']);
    await page.locator('#search').fill('nothing');
    await page.getByText('Nothing found').waitFor();
  });

  it('tells a search that still awaits its answer from one that found nothing', async () => {
    const { url, backend } = await browsedApp();
    backend.isTruncated = true;
    backend.cluster.set('shown/1', { holders: [{}] });
    const mayAnswer = deferred();
    const { survey } = backend;
    vi.spyOn(backend, 'survey').mockImplementation(async (question) => {
      if (question.prefix?.startsWith('late/')) await mayAnswer.promise;
      const { keys, ...rest } = await survey.call(backend, question);
      // The survey of the cluster does not get that far.
      return { ...rest, keys: keys.filter(({ key }) => question.prefix !== '' || key.startsWith('shown/')) };
    });
    backend.cluster.set('late/1', { holders: [{}] });
    const { page } = await open(url);
    await live(page);
    await page.locator('#search').fill('late/');
    await page.locator('.count', { hasText: /^Looking …$/ }).waitFor();
    // Both at once: a survey that takes long is given up.
    const awaited = page.locator('body', { hasText: '0 keys found so far, the answer is still awaited' });
    await awaited.filter({ hasText: 'Still searching' }).waitFor();
    mayAnswer.resolve();
    await rowOf(page, 'late/1').waitFor();
    await page.locator('.count', { hasText: '1 key found' }).waitFor();
    expect(await page.getByText('awaited').count()).toBe(0);
    await page.locator('#search').fill('late/2');
    await page.getByText('Nothing found').waitFor();
  });

  it('says that the servers could not be read when the survey of a search fails', async () => {
    const { url, backend } = await browsedApp();
    backend.isTruncated = true;
    const { survey } = backend;
    vi.spyOn(backend, 'survey').mockImplementation((question) =>
      question.prefix?.startsWith('late/') ? Promise.reject(new Error('no rights')) : survey.call(backend, question),
    );
    const { page } = await open(url);
    await live(page);
    await page.locator('#search').fill('late/');
    await page.getByText('The servers could not be read about “late/”: no rights').waitFor();
    await page.locator('.count', { hasText: '0 keys found so far, the servers could not be read' }).waitFor();
    expect(await page.getByText('Still searching').count()).toBe(0);
  });

  it('does not move rows under the pointer', async () => {
    const { url, backend } = await browsedApp();
    backend.cluster.set('a', { holders: [{}], waiters: [{}, {}] });
    backend.cluster.set('b', { holders: [{}] });
    const { page } = await open(url);
    await live(page);
    await rowOf(page, 'b').hover();
    backend.cluster.set('b', { holders: [{}], waiters: [{}, {}, {}, {}] });
    await rowOf(page, 'b').getByText('4 waiting').waitFor();
    expect(await keysIn(page)).toEqual(['a', 'b']);
    await page.locator('h1').hover();
    await expect.poll(() => keysIn(page)).toEqual(['b', 'a']);
  });

  it('lets rows stay when another one goes behind them', async () => {
    const { url, backend } = await browsedApp();
    const keys = ['k0', 'k1', 'k2', 'k3', 'k4'];
    const waiters = (count: number) => ({ holders: [{}], waiters: Array.from({ length: count }, () => ({})) });
    keys.forEach((key, at) => backend.cluster.set(key, waiters(9 - at)));
    const { page } = await open(url);
    await live(page);
    expect(await keysIn(page)).toEqual(keys);
    await page.evaluate(
      `window.moved = [];
      const note = (records) => records.forEach(({ addedNodes }) => window.moved.push(...[...addedNodes].map((one) => one.textContent)));
      new MutationObserver(note).observe(document.querySelector('table.keys tbody'), { childList: true });`,
    );
    backend.cluster.set('k0', waiters(0));
    await expect.poll(() => keysIn(page)).toEqual(['k1', 'k2', 'k3', 'k4', 'k0']);
    const seen = (await page.evaluate('window.moved')) as string[];
    expect(seen).toHaveLength(1);
    expect(seen[0]).toContain('k0');
  });

  it('pauses while the page is hidden', async () => {
    const { url, locks } = await browsedApp();
    const { page } = await open(url);
    const seen = await open(url);
    await live(page);
    await live(seen.page);
    const hide = (isHidden: boolean) =>
      page.evaluate(
        `Object.defineProperty(document, 'hidden', { value: ${isHidden}, configurable: true });
        document.dispatchEvent(new Event('visibilitychange'));`,
      );
    await hide(true);
    const hiddenAt = await page.evaluate(() => performance.now());
    // A page that is seen asks once a second, and tells how much time has passed.
    for (let asked = 0; asked < 3; asked++) await seen.page.waitForResponse(/api\/state/);
    // A request from before may still be under way.
    const requests = await page.evaluate(
      (since) => performance.getEntriesByType('resource').filter(({ startTime }) => startTime > since).length,
      hiddenAt,
    );
    expect(requests).toBe(0);
    const lease = await locks.acquire('order/1');
    await rowOf(seen.page, 'order/1').waitFor();
    expect(await keysIn(page)).toEqual([]);
    await hide(false);
    await rowOf(page, 'order/1').waitFor();
    await lease.release();
  });
});

describe('hostile text', () => {
  it('is shown as text in every view', async () => {
    const { url } = await hostileApp();
    const { page, faults } = await open(url);
    expect(await injected(page, url)).toEqual([]);
    await page.goto(`${url}#/locks`);
    await live(page);
    await page.locator('table.keys th', { hasText: '<img src=x onerror=' }).waitFor();
    const text = await page.locator('table.keys').innerText();
    expect(text).toContain('\\u202e');
    expect(text).not.toContain('\u202e');
    expect(faults).toEqual([]);
  });

  it('is found out when a page makes HTML of it', async () => {
    const assets = patched('dom.js', /return \{ vnode, node: document\.createTextNode\(text\) \};/, (line) =>
      line.replace(
        'document.createTextNode(text)',
        '((box) => (box.innerHTML = text, box))(document.createElement("span"))',
      ),
    );
    const { url } = await hostileApp(assets);
    const { page, faults, ignoreFaults } = await open(url);
    await expect.poll(() => faults.splice(0).join(), SOON).toContain('TrustedHTML');
    expect(await page.evaluate(`'hacked' in window`)).toBe(false);
    ignoreFaults();
  });

  it('would have run without the policy: the planted defect is a real one', async () => {
    const assets = patched('dom.js', /return \{ vnode, node: document\.createTextNode\(text\) \};/, (line) =>
      line.replace(
        'document.createTextNode(text)',
        '((box) => (box.innerHTML = text, box))(document.createElement("span"))',
      ),
    );
    const { url } = await hostileApp(assets);
    const unprotected = await withoutPolicy(url);
    const { page, ignoreFaults } = await open(unprotected);
    expect((await injected(page, unprotected)).length).toBeGreaterThan(0);
    ignoreFaults();
  });
});

describe('actions', () => {
  it('are not offered to somebody without the right', async () => {
    const { url, locks } = await browsedApp();
    const lease = await locks.acquire('order/1');
    const { page } = await open(`${url}#/key/order%2F1`);
    await page.getByText('One holder').waitFor();
    expect(await page.getByRole('button').count()).toBe(0);
    await lease.release();
  });

  it('revoke a key once its name has been typed', async () => {
    const { url, locks } = await browsedApp({ actions: ['revoke'] });
    const lease = await locks.acquire('order/1', { label: 'Orders.hung' });
    const asked = new Promise((resolve) => lease.signal.addEventListener('abort', resolve));
    const { page } = await open(url);
    await rowOf(page, 'order/1').getByRole('link').click();
    await page.getByRole('button', { name: 'Revoke …' }).click();
    const dialog = page.getByRole('dialog');
    const revoke = dialog.getByRole('button', { name: 'Revoke' });
    expect(await revoke.isDisabled()).toBe(true);
    await dialog.getByLabel('Type the name').fill('order/2');
    expect(await revoke.isDisabled()).toBe(true);
    await dialog.getByLabel('Type the name').fill('order/1');
    await dialog.getByLabel('Grace period').fill('soon');
    expect(await revoke.isDisabled()).toBe(true);
    await dialog.getByLabel('Grace period').fill('60');
    await revoke.click();
    await asked;
    await page.getByText('Revoking: the holders have').waitFor();
    await lease.release();
    await page.getByText('Free: nobody holds it').waitFor();
    await page.getByRole('link', { name: 'This instance' }).click();
    await page.getByText('the key was revoked, and its holders are gone').waitFor();
  });

  it('say why they were refused', async () => {
    const { url, locks } = await browsedApp({
      actions: ['revoke'],
      authorize: (context) => context.switchToHttp().getRequest<{ method: string }>().method !== 'POST',
    });
    const lease = await locks.acquire('order/1');
    const { page, faults } = await open(`${url}#/key/order%2F1`);
    await page.getByRole('button', { name: 'Revoke …' }).click();
    await page.getByLabel('Type the name').fill('order/1');
    await page.keyboard.press('Enter');
    await page.getByRole('alert').getByText('Forbidden').waitFor();
    expect(faults.splice(0).join()).toContain('403');
    expect(lease.state).toBe('held');
    await lease.release();
  });

  it.each(Object.keys(PLATFORMS) as Platform[])(
    'are refused from a form and a script of another site, on %s',
    async (platform) => {
      const app = await browsedApp({ actions: ['revoke'] }, { platform });
      const lease = await app.locks.acquire('order/1');
      expect(await attack(app, 'order/1')).toEqual({ form: 403, sameSiteForm: 403, script: 'refused' });
      expect(lease.state).toBe('held');
      await lease.release();
    },
  );

  it('would be done without the rule: the attack is a real one', async () => {
    let calls = 0;
    @Controller('open')
    class WithoutRule {
      @Post('api/actions/revoke')
      act() {
        calls++;
      }
    }
    const app = await browsedApp({}, { metadata: { controllers: [WithoutRule] } });
    const answers = await attack({ ...app, url: app.url.replace('/locks', '/open') }, 'order/1');
    expect(answers).toMatchObject({ form: 201, sameSiteForm: 201 });
    expect(calls).toBe(2);
  });
});

describe('the frame', () => {
  it('works behind a proxy that strips a prefix, and with a query', async () => {
    const { url, locks } = await browsedApp();
    const lease = await locks.acquire('order/1');
    const { page } = await open(`${await stripProxy('/ops/eu', url)}?a=b`);
    await rowOf(page, 'order/1').getByRole('link').click();
    await page.getByText('One holder').waitFor();
    expect(new URL(page.url()).pathname).toBe('/ops/eu/locks');
    await lease.release();
  });

  it('is used by the keyboard alone, and keeps the focus over updates', async () => {
    const { url, backend } = await browsedApp({ actions: ['revoke'] });
    backend.cluster.set('order/1', { holders: [{}] });
    const { page } = await open(url);
    await live(page);
    const polled = () => page.waitForResponse(/api\/state/);
    await page.keyboard.press('/');
    await page.keyboard.type('order');
    await polled();
    await polled();
    expect(await page.evaluate('document.activeElement?.id')).toBe('search');
    expect(await page.locator('#search').inputValue()).toBe('order');
    for (let tabs = 0; tabs < 3; tabs++) await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    await page.getByText('One holder').waitFor();
    expect(await page.evaluate('document.activeElement === document.body')).toBe(false);
    await page.getByRole('button', { name: 'Revoke …' }).press('Enter');
    expect(await page.evaluate('document.activeElement?.id')).toBe('grace');
    await page.keyboard.press('Escape');
    expect(await page.getByRole('dialog').count()).toBe(0);
    await page.goto(url);
    await live(page);
    await page.keyboard.press('Tab');
    expect(await page.evaluate('document.activeElement?.textContent')).toBe('Skip to the content');
  });

  it.each(['light', 'dark'] as const)('has no fault that axe can find, in %s', async (colorScheme) => {
    const { url, backend, locks } = await browsedApp({ actions: ['revoke', 'resign', 'forget'] });
    backend.cluster.set('order/1', {
      holders: [{ label: 'Orders.place', ageMs: 70_000 }],
      waiters: [{ ageMs: 60_000 }],
    });
    backend.cluster.set('pdf', { kind: 'semaphore', holders: [{ mode: 'permit', isOwn: true }] });
    backend.cluster.set('poller', { kind: 'election', holders: [{ isOwn: true }], waiters: [{}] });
    backend.queues.push({ key: 'mails', items: 3 });
    await locks.stock('tickets', { segments: 4 }).restock(3);
    await recordLoss(backend);
    const { page } = await open(url, { colorScheme, reducedMotion: 'reduce' });
    for (const view of VIEWS) {
      await page.goto(`${url}#/${view}`);
      await live(page);
      expect([view, await axeFaults(page)]).toEqual([view, []]);
    }
    await page.goto(`${url}#/key/order%2F1`);
    await page.getByRole('button', { name: 'Revoke …' }).click();
    expect(await axeFaults(page)).toEqual([]);
  });

  it.each([320, 390, 760, 1600])('fits into a window of %i pixels', async (width) => {
    const { url, backend } = await browsedApp({ actions: ['revoke'] });
    const long = 'a-very-long-segment-of-a-key/'.repeat(6);
    backend.cluster.set('order/1', { holders: [{ label: long, host: long }], waiters: [{ label: long }] });
    backend.cluster.set(`${long}end`, { holders: [{}] });
    backend.cluster.set('poller', { kind: 'election', holders: [{ label: long }] });
    backend.queues.push({ key: long, items: 3 });
    const word = 'a-word'.repeat(20);
    await recordLoss(backend, { service: word, host: word, reason: word, named: [{ key: long, label: word }] });
    const { page } = await open(url, { viewport: { width, height: 800 } });
    for (const view of VIEWS) {
      await page.goto(`${url}#/${view}`);
      await live(page);
      const overflow = await page.evaluate('document.documentElement.scrollWidth - window.innerWidth');
      expect([view, overflow]).toEqual([view, 0]);
    }
  });

  it('asks less often while nothing answers, and goes on by itself', async () => {
    const { url, backend } = await browsedApp();
    backend.cluster.set('order/1', { holders: [{}] });
    let isBroken = false;
    const { page, faults } = await open(await breakable(url, () => isBroken));
    await live(page);
    isBroken = true;
    await page.getByText('What you see is older').waitFor();
    expect(await keysIn(page)).toEqual(['order/1']);
    isBroken = false;
    await page.getByText('live', { exact: true }).waitFor();
    expect(faults.splice(0).every((fault) => fault.includes('502'))).toBe(true);
  });

  it('says that nothing answers when an instance takes requests and is silent', async () => {
    const { url } = await browsedApp();
    const { page } = await open(url);
    await live(page);
    await page.clock.install();
    const asked = deferred();
    await page.route('**/api/state*', () => asked.resolve());
    await asked.promise;
    await page.clock.fastForward(4_000);
    expect(await page.getByText('live', { exact: true }).count()).toBe(1);
    await page.clock.fastForward(4_500);
    await page.getByText('What you see is older').waitFor();
    await page.unroute('**/api/state*');
    await page.clock.fastForward(2_500);
    await page.getByText('live', { exact: true }).waitFor();
  });

  it('says so when the right to see it is gone', async () => {
    let mayView = true;
    const { url } = await browsedApp({ authorize: () => mayView });
    const { page, faults, ignoreFaults } = await open(url);
    await live(page);
    mayView = false;
    await page.getByText('You may not see this page').waitFor();
    expect(faults.splice(0).every((fault) => fault.includes('403'))).toBe(true);
    ignoreFaults();
  });

  it('is small: all files together, compressed', () => {
    const files = readdirSync(ASSETS);
    const bytes = files.map((name) => gzipSync(readFileSync(join(ASSETS, name))).length);
    expect(files).toContain('main.js');
    expect(bytes.reduce((sum, one) => sum + one, 0)).toBeLessThan(MOST_BYTES);
  });

  it('names no foreign host, and has no way to make HTML of text', () => {
    for (const name of readdirSync(ASSETS)) {
      const text = readFileSync(join(ASSETS, name), 'utf8').replaceAll('http://www.w3.org/2000/svg', '');
      expect([
        name,
        /https?:\/\/|innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\b|new Function/.exec(text)?.[0],
      ]).toEqual([name, undefined]);
    }
  });
});

/** An application where other clients have written HTML wherever they can. */
async function hostileApp(assets = ASSETS): Promise<BrowsedApp> {
  const app = await browsedApp({ assets, actions: ['revoke', 'resign', 'forget'] });
  const hostile = [{ label: `${HOSTILE}\u202e`, host: HOSTILE }];
  app.backend.cluster.set(HOSTILE, { holders: hostile, waiters: hostile });
  app.backend.cluster.set('order/1', { holders: hostile, waiters: hostile });
  app.backend.cluster.set(`election ${HOSTILE}`, { kind: 'election', holders: hostile });
  app.backend.queues.push({ key: HOSTILE, items: 1 });
  const named = [{ key: HOSTILE, label: HOSTILE }];
  await recordLoss(app.backend, { id: HOSTILE, service: HOSTILE, host: HOSTILE, reason: HOSTILE, named });
  await app.locks.stock(HOSTILE, { segments: 1 }).restock(1);
  await app.locks.using('order/2', async () => {}, { label: HOSTILE });
  const run = {
    key: HOSTILE,
    tick: undefined,
    state: 'failed',
    runner: { host: HOSTILE, pid: 7 },
    runId: 'a',
  } as const;
  const times = { attempt: 2, startedAt: new Date(), durationMs: 3, isRunning: false };
  vi.spyOn(app.app.get(CronRunsService), 'peek').mockResolvedValue([
    { name: HOSTILE, ...run, ...times, error: HOSTILE },
  ]);
  return app;
}

/** Visits all views. Returns elements that were made of text, and whether a script of it has run. */
async function injected(page: Page, url: string): Promise<string[]> {
  const found: string[] = [];
  for (const view of VIEWS) {
    await page.goto(`${url}#/${view}`);
    await page.waitForResponse(/api\/state/);
    await page.locator('main h1').waitFor({ state: 'attached' });
    const elements = await page.locator('.app img, .app script').count();
    if (elements > 0) found.push(`${view}: ${elements} elements`);
    if (await page.evaluate(`'hacked' in window`)) found.push(`${view}: a script has run`);
  }
  return found;
}

/** The files of the page with a planted defect. */
function patched(name: string, line: RegExp, plant: (line: string) => string): string {
  const folder = mkdtempSync(join(tmpdir(), 'planted-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  cpSync(ASSETS, folder, { recursive: true });
  const text = readFileSync(join(folder, name), 'utf8');
  expect(text).toMatch(line);
  writeFileSync(join(folder, name), text.replace(line, plant));
  return folder;
}

/** A proxy that takes the policy off. */
async function withoutPolicy(url: string): Promise<string> {
  const { pathname } = new URL(url);
  const port = await serveHttp((incoming, outgoing) => {
    void fetch(new URL(incoming.url ?? '/', url)).then(async (answer) => {
      outgoing.writeHead(answer.status, { 'content-type': answer.headers.get('content-type') ?? 'text/plain' });
      outgoing.end(await answer.text());
    });
  });
  return `http://127.0.0.1:${port}${pathname}`;
}

/** A proxy that answers 502 while it is broken. */
async function breakable(url: string, isBroken: () => boolean): Promise<string> {
  const behind = await stripProxy('', url);
  const { pathname } = new URL(url);
  const port = await serveHttp((incoming, outgoing) => {
    if (isBroken()) return void outgoing.writeHead(502).end();
    void fetch(new URL(incoming.url ?? '/', behind), { headers: { 'x-locks-page': '1' } }).then(async (answer) => {
      const type = answer.headers.get('content-type') ?? 'text/plain';
      outgoing.writeHead(answer.status, { 'content-type': type });
      outgoing.end(await answer.text());
    });
  });
  return `http://127.0.0.1:${port}${pathname}`;
}

/** Sends a revocation from pages of other origins, as a form and as a script. Returns what was answered. */
async function attack({ url }: BrowsedApp, id: string): Promise<object> {
  const target = `${url}/api/actions/revoke`;
  const body = JSON.stringify({ id, graceMs: 0, padding: '' });
  // A form of this type sends name=value, which the two halves make JSON of.
  const name = body.slice(0, -2).replaceAll('"', '&quot;');
  const form = `<form method="post" enctype="text/plain" action="${target}"><input name="${name}" value="&quot;}"></form>`;
  const port = await serveHttp((_incoming, outgoing) => {
    outgoing
      .writeHead(200, { 'content-type': 'text/html' })
      .end(`<!doctype html><link rel="icon" href="data:,">${form}`);
  });
  const submit = async (origin: string) => {
    const { page: foreign, ignoreFaults } = await open(origin);
    ignoreFaults();
    const answered = foreign.waitForResponse(target);
    // Later: an evaluation that navigates away has no answer.
    await foreign.evaluate('void setTimeout(() => document.forms[0].submit())');
    return (await answered).status();
  };
  const sent = {
    form: await submit(`http://localhost:${port}`),
    sameSiteForm: await submit(`http://127.0.0.1:${port}`),
  };
  const { page, ignoreFaults } = await open(`http://localhost:${port}`);
  ignoreFaults();
  const script = await page.evaluate(
    async ([to, json]) => {
      const headers = { 'content-type': 'application/json', 'x-locks-page': '1' };
      try {
        return `answered ${(await fetch(to!, { method: 'POST', headers, body: json })).status}`;
      } catch {
        return 'refused';
      }
    },
    [target, body],
  );
  return { ...sent, script };
}

async function axeFaults(page: Page): Promise<string[]> {
  await page.evaluate(axe.source);
  const violations = await page.evaluate(async () => {
    const { axe: run } = globalThis as unknown as {
      axe: { run(): Promise<{ violations: { id: string; nodes: { html: string }[] }[] }> };
    };
    return (await run.run()).violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(' ')}`);
  });
  return violations;
}
