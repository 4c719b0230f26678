import type { INestApplication, ModuleMetadata } from '@nestjs/common';
import { Test } from '@nestjs/testing';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { LockDashboardModule } from '../../lib/dashboard/index.js';
import type { LockDashboardExtras, LockDashboardOptions } from '../../lib/dashboard/index.js';
import { LockModule, LockService } from '../../lib/index.js';
import { scene } from '../dashboard/scene-backend.js';
import type { SceneBackend } from '../dashboard/scene-backend.js';
import { PLATFORMS } from './platforms.js';
import type { Platform } from './platforms.js';

/** The headers of a request of the page's own code. */
export const OWN = { 'x-locks-page': '1', 'content-type': 'application/json', 'sec-fetch-site': 'same-origin' };

export interface DashboardApp {
  readonly app: INestApplication;
  readonly backend: SceneBackend;
  readonly locks: LockService;
  /** The URL of the application, without the path of the page. */
  readonly url: string;
  get(path: string, headers?: Record<string, string>): Promise<Response>;
  act(action: string, body: unknown, headers?: Record<string, string>): Promise<Response>;
}

/** The parts of an application under test. */
export interface DashboardSetup {
  readonly platform?: Platform;
  readonly options?: LockDashboardOptions & LockDashboardExtras;
  readonly metadata?: ModuleMetadata;
  readonly configure?: (app: INestApplication) => unknown;
  /** The module of the page, where it is not made by `forRoot`. */
  readonly page?: NonNullable<ModuleMetadata['imports']>[number];
}

/** Starts an application with the page, on locks in memory. It is closed when the test has finished. */
export async function serveDashboard(setup: DashboardSetup = {}): Promise<DashboardApp> {
  const { platform = 'express', options = {}, metadata = {}, configure = () => {}, page } = setup;
  const definition = scene();
  const imports = [
    LockModule.forRoot({ service: 'shop', backend: definition }),
    page ?? LockDashboardModule.forRoot({ assets: assetsFolder(), ...options }),
    ...(metadata.imports ?? []),
  ];
  const compiled = await Test.createTestingModule({ ...metadata, imports }).compile();
  const app = compiled.createNestApplication(PLATFORMS[platform]() as never, { logger: false });
  onTestFinished(() => app.close());
  await configure(app);
  await app.listen(0, '127.0.0.1');
  const url = `http://127.0.0.1:${(app.getHttpServer().address() as AddressInfo).port}`;
  return {
    app,
    backend: definition.last,
    locks: app.get(LockService),
    url,
    get: (path, headers = {}) => fetch(`${url}${path}`, { headers }),
    act: (action, body, headers = OWN) =>
      fetch(`${url}/locks/api/actions/${action}`, { method: 'POST', headers, body: JSON.stringify(body) }),
  };
}

/** A folder with the files that the page needs at least. The page itself is tried in a browser, by other tests. */
export function assetsFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'page-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  writeFileSync(join(folder, 'main.js'), 'export {};\n');
  writeFileSync(join(folder, 'page.css'), 'body {}\n');
  writeFileSync(join(folder, 'secret.txt'), 'no file of the page\n');
  return folder;
}
