import type { INestApplication, ModuleMetadata } from '@nestjs/common';
import { Test } from '@nestjs/testing';
import { createServer, request } from 'node:http';
import type { RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, onTestFinished } from 'vitest';
import { LockDashboardModule } from '../../lib/dashboard/index.js';
import type { LockDashboardOptions } from '../../lib/dashboard/index.js';
import { LockModule, LockService } from '../../lib/index.js';
import type { LockBackendDefinition } from '../../lib/index.js';
import { PLATFORMS } from '../nest/platforms.js';
import type { Platform } from '../nest/platforms.js';
import { ROOT } from '../support/repository-root.js';
import { startChromium } from './chromium.js';
import type { Started } from './chromium.js';
import { scene } from './scene-backend.js';
import type { SceneBackend } from './scene-backend.js';

/** The compiled files of the page. */
export const ASSETS = join(ROOT, 'build/page/page');

export interface BrowsedApp {
  readonly app: INestApplication;
  readonly backend: SceneBackend;
  readonly locks: LockService;
  readonly url: string;
}

/** The surroundings of the page in a test. */
interface Surroundings {
  readonly platform?: Platform;
  readonly metadata?: ModuleMetadata;
  /** A backend in place of the scene. */
  readonly on?: LockBackendDefinition;
  /** Called before the application listens. */
  readonly configure?: (app: INestApplication) => unknown;
}

/** Starts an application with the page. It is closed when the test has finished. */
export async function browsedApp(
  options: LockDashboardOptions = {},
  { platform = 'express', metadata = {}, on, configure = () => {} }: Surroundings = {},
): Promise<BrowsedApp> {
  const definition = scene();
  const imports = [
    LockModule.forRoot({ service: 'shop', backend: on ?? definition }),
    LockDashboardModule.forRoot({ assets: ASSETS, ...options }),
  ];
  const compiled = await Test.createTestingModule({ ...metadata, imports }).compile();
  const app = compiled.createNestApplication(PLATFORMS[platform]() as never, { logger: false });
  onTestFinished(() => app.close());
  await configure(app);
  await app.listen(0, '127.0.0.1');
  const { port } = app.getHttpServer().address() as AddressInfo;
  return {
    app,
    get backend() {
      return definition.last;
    },
    locks: app.get(LockService),
    url: `http://127.0.0.1:${port}/locks`,
  };
}

/** A page in the browser, with everything that went wrong in it. */
export interface Browsed {
  readonly page: Page;
  /** Errors of the console and of scripts, and violations of the policy. A test ends with none that it has not taken. */
  readonly faults: string[];
  /** From now on the page may have faults. For pages of attackers, and for pages whose defects were found. */
  ignoreFaults(): void;
}

/** Returns a function that opens pages in one browser. Each page has a context of its own, and must end without faults. */
export function browser(): (url: string, options?: Parameters<Started['open']>[0]) => Promise<Browsed> {
  let started: Started;
  beforeAll(async () => {
    started = await startChromium();
  });
  afterAll(() => started.close());
  return async (url, options) => {
    const context = await started.open(options);
    const page = await context.newPage();
    const faults: string[] = [];
    let isChecked = true;
    page.setDefaultTimeout(30_000);
    page.on('pageerror', (error) => faults.push(`error: ${error.message}`));
    page.on('console', (message) => {
      if (message.type() === 'error' || message.type() === 'warning') faults.push(`console: ${message.text()}`);
    });
    onTestFinished(async () => {
      await context.close();
      if (isChecked) expect(faults).toEqual([]);
    });
    await page.goto(url);
    return { page, faults, ignoreFaults: () => void (isChecked = false) };
  };
}

/** Waits until the page shows an answer of the server. */
export async function live(page: Page): Promise<void> {
  await page.getByText('live', { exact: true }).waitFor();
  await page.locator('main h1').waitFor();
}

/** Starts an HTTP server on a port of its own. It is closed when the test has finished. @returns the port */
export async function serveHttp(listener: RequestListener): Promise<number> {
  const server = createServer(listener);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return (server.address() as AddressInfo).port;
}

/** Starts a proxy that takes a prefix off the path. @returns the URL of what is behind it */
export async function stripProxy(prefix: string, target: string): Promise<string> {
  const { port, pathname } = new URL(target);
  const proxy = await serveHttp((incoming, outgoing) => {
    const path = (incoming.url ?? '/').slice(prefix.length);
    const { method, headers } = incoming;
    const onward = request({ host: '127.0.0.1', port, path, method, headers }, (answer) => {
      outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(outgoing);
    });
    onward.on('error', () => outgoing.destroy());
    incoming.pipe(onward);
  });
  return `http://127.0.0.1:${proxy}${prefix}${pathname}`;
}
