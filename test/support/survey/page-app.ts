import { Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { LockDashboardModule } from '../../../lib/dashboard/index.js';
import { LockModule, LockService } from '../../../lib/index.js';
import type { LockBackendDefinition } from '../../../lib/index.js';

/** The last answer that an open page got. */
export interface PolledPage {
  readonly keys: number;
  readonly isTruncated: boolean;
  readonly fault: string | null;
}

/** The part of the answer to an open page that is of interest. */
interface Answered extends Omit<PolledPage, 'keys'> {
  readonly keys: readonly unknown[];
}

/** An application with the page of locks. */
export interface PageApp extends AsyncDisposable {
  readonly locks: LockService;
  /** Asks as an open page does. */
  poll(): Promise<PolledPage>;
}

/** Starts an application with the page of locks. Nobody needs the front end, so it is not built. */
export async function startPage(backend: LockBackendDefinition): Promise<PageApp> {
  const assets = mkdtempSync(join(tmpdir(), 'page-'));
  writeFileSync(join(assets, 'main.js'), 'export {};\n');
  writeFileSync(join(assets, 'page.css'), 'body {}\n');

  @Module({
    imports: [
      LockModule.forRoot({ service: 'shop', backend, drainTimeoutMs: 0 }),
      LockDashboardModule.forRoot({ authorize: () => true, assets }),
    ],
  })
  class PageModule {}

  const app = await NestFactory.create(PageModule, { logger: ['error'] });
  await app.listen(0, '127.0.0.1');
  const { port } = app.getHttpServer().address() as AddressInfo;
  return {
    locks: app.get(LockService),
    async poll() {
      const answer = await fetch(`http://127.0.0.1:${port}/locks/api/state`);
      const { keys, isTruncated, fault } = (await answer.json()) as Answered;
      return { keys: keys.length, isTruncated, fault };
    },
    async [Symbol.asyncDispose]() {
      await app.close();
      rmSync(assets, { recursive: true, force: true });
    },
  };
}
