import { NestFactory } from '@nestjs/core';
import { Module } from '@nestjs/common';
import type { AddressInfo } from 'node:net';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { LockDashboardModule } from '../../../lib/dashboard/index.js';
import { LockModule, LockService } from '../../../lib/index.js';
import type { LockBackendDefinition } from '../../../lib/index.js';
import { closeService } from '../plain-service.js';
import { RequestCounter } from './request-counter.js';
import type { SentReader } from './request-counter.js';

const KEYS = 10_000;
const AT_ONCE = 500;
const POLLERS = 20;
const BEATS = 3;
const SETTINGS = { connectionName: 'default', service: 'shop', waitMs: 60_000, drainTimeoutMs: 0 } as const;
const OFTEN = { timeout: 60_000, interval: 100 };

/** A backend, as these tests look at it. */
export interface LoadedBackend {
  /** Starts a server, or finds one. Returns its address, `host:port`. */
  server(): Promise<string>;
  /** Makes the reader of what the client of the page sends. */
  reader(): SentReader;
  backend(host: string, sessionTimeoutMs: number): LockBackendDefinition;
  /** The most requests of one survey of the page. */
  readonly mostOfSurvey: number;
}

/** Whether so many requests within this time are more than one bounded survey a second. */
export function isTooMuch(requests: number, withinMs: number, mostOfSurvey: number): boolean {
  const surveys = Math.floor(withinMs / 1_000) + 1;
  return requests > surveys * mostOfSurvey;
}

/** The test of what an open page costs a server, beside 10,000 keys that are held. */
export function pageLoadTests({ server, reader, backend, mostOfSurvey }: LoadedBackend): void {
  it('is at most one bounded survey a second while the page is open, and nothing while it is closed', async () => {
    const host = await server();
    const [counter, clock] = [await RequestCounter.open(host, reader), await RequestCounter.open(host, reader)];
    onTestFinished(() => [counter, clock].forEach((one) => one.close()));
    const holder = await holderOf(backend(host, 30_000), KEYS - 1);
    // A session without leases need not have heartbeats, so those of a client with one are the clock.
    const ticking = await holderOf(backend(clock.host, 10_000), 1);
    const { locks, poll } = await startPage(backend(counter.host, 10_000));

    /** The requests from now on, until some heartbeats have come. */
    const askedWhile = async (work: () => Promise<unknown> = async () => {}) => {
      const [began, { requests }] = [clock.messages, counter];
      const beaten = async () => {
        await work();
        return clock.messages - began;
      };
      await expect.poll(beaten, OFTEN).toBeGreaterThanOrEqual(BEATS);
      return counter.requests - requests;
    };
    await askedWhile();
    expect(await askedWhile()).toBe(0);

    const opened = performance.now();
    const requests = await askedWhile(() => Promise.all(Array.from({ length: POLLERS }, poll)));
    const openMs = performance.now() - opened;
    expect(requests).toBeGreaterThan(0);
    expect({ requests, openMs, isTooMuch: isTooMuch(requests, openMs, mostOfSurvey) }).toMatchObject({
      isTooMuch: false,
    });
    await expect.poll(poll, OFTEN).toMatchObject({ isTruncated: true });

    // What the last survey has sent may still be on its way.
    await askedWhile();
    expect(await askedWhile()).toBe(0);

    const before = counter.requests;
    const all = await locks.survey({ mostKeys: KEYS, withinMs: 60_000 });
    expect(all.keys).toHaveLength(KEYS);
    expect(isTooMuch(counter.requests - before, 0, mostOfSurvey)).toBe(true);
    await Promise.all([holder, ticking].map(closeService));
  }, 240_000);
}

async function holderOf(definition: LockBackendDefinition, count: number): Promise<LockService> {
  const locks = new LockService(definition.create(), { ...SETTINGS, connectOnStart: 'required' });
  onTestFinished(() => closeService(locks));
  await locks.onModuleInit();
  for (let first = 0; first < count; first += AT_ONCE) {
    const keys = Array.from({ length: Math.min(AT_ONCE, count - first) }, (_, at) => `${count}/${first + at}`);
    await Promise.all(keys.map((key) => locks.acquire(key)));
  }
  return locks;
}

/** Starts an application with the page. `poll` asks as an open page does. */
async function startPage(backend: LockBackendDefinition) {
  const assets = mkdtempSync(join(tmpdir(), 'page-'));
  onTestFinished(() => rmSync(assets, { recursive: true, force: true }));
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
  onTestFinished(() => app.close());
  await app.listen(0, '127.0.0.1');
  const { port } = app.getHttpServer().address() as AddressInfo;
  const poll = async () => {
    const answer = await fetch(`http://127.0.0.1:${port}/locks/api/state`);
    const state = (await answer.json()) as { keys: readonly unknown[]; isTruncated: boolean; fault: string | null };
    expect(state.fault).toBeNull();
    return { keys: state.keys.length, isTruncated: state.isTruncated };
  };
  return { locks: app.get(LockService), poll };
}
