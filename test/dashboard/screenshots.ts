import 'reflect-metadata';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { BrowserContext, Page } from 'playwright-core';
import { ROOT } from '../support/repository-root.js';
import { startChromium } from './chromium.js';
import { openShop } from './lively-shop.js';

/** A picture of one view. */
interface Picture {
  readonly name: string;
  readonly view: string;
  readonly scheme: 'light' | 'dark';
  readonly width: number;
  readonly height: number;
}

const PICTURES: readonly Picture[] = [
  { name: 'locks-light', view: 'locks', scheme: 'light', width: 1280, height: 800 },
  { name: 'locks-key-dark', view: 'key/account%2FDE-2204', scheme: 'dark', width: 1280, height: 800 },
  { name: 'locks-instance-light', view: 'instance', scheme: 'light', width: 1280, height: 1000 },
  { name: 'locks-phone-dark', view: 'locks', scheme: 'dark', width: 390, height: 844 },
];

const OTHERS: readonly Picture[] = ['leaders', 'cron', 'queues', 'stock'].flatMap((view) => [
  { name: `${view}-light`, view, scheme: 'light', width: 1280, height: 700 },
  { name: `${view}-phone`, view, scheme: 'dark', width: 390, height: 844 },
]);

// The charts need a while to have something to show.
const LIVELY_MS = Number(process.env.LIVELY_MS ?? 75_000);

/** Writes pictures of the page with lively data into a folder: docs/images, or the first argument with all views. */
async function takePictures(): Promise<void> {
  const [, , folder] = process.argv;
  const pictures = folder === undefined ? PICTURES : [...PICTURES, ...OTHERS];
  const target = folder ?? join(ROOT, 'docs/images');
  mkdirSync(target, { recursive: true });
  const shop = await openShop();
  const browser = await startChromium();
  try {
    const watcher = await browser.open();
    await (await watcher.newPage()).goto(shop.url);
    await new Promise((resolve) => setTimeout(resolve, LIVELY_MS));
    for (const picture of pictures) await take(await browser.open(settings(picture)), shop.url, picture, target);
  } finally {
    await browser.close();
    await shop.end();
  }
}

const settings = ({
  scheme,
  width,
  height,
}: Picture): Parameters<Awaited<ReturnType<typeof startChromium>>['open']>[0] => ({
  colorScheme: scheme,
  viewport: { width, height },
  deviceScaleFactor: 1.25,
});

async function take(context: BrowserContext, url: string, { name, view }: Picture, target: string): Promise<void> {
  const page: Page = await context.newPage();
  await page.goto(`${url}#/${view}`);
  await page.getByText('live', { exact: true }).waitFor();
  await page.locator('h1').waitFor();
  // Rows fade in.
  await page.waitForTimeout(1_500);
  await page.screenshot({ path: join(target, `${name}.png`) });
  await context.close();
}

await takePictures();
