import { expect, it, onTestFinished } from 'vitest';
import { LockService } from '../../../lib/index.js';
import type { LockBackendDefinition } from '../../../lib/index.js';
import { closeService } from '../plain-service.js';
import { startPage } from './page-app.js';
import { RequestCounter } from './request-counter.js';
import type { SentReader } from './request-counter.js';

const KEYS = 10_000;
const AT_ONCE = 500;
const POLLERS = 20;
// Three heartbeats of a session of 10 s are five seconds or more, and a survey is made each second.
const BEATS = 3;
// Requests of an idle session for each heartbeat of another one, with some to spare.
const IDLE_PER_BEAT = 4;
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
    // The heartbeats of another client are the clock.
    const ticking = await holderOf(backend(clock.host, 10_000), 1);
    await using page = await startPage(backend(counter.host, 30_000));
    const { locks } = page;
    const poll = async () => {
      const polled = await page.poll();
      expect(polled.fault).toBeNull();
      return polled;
    };

    /** The requests from now on for each heartbeat of the clock, after some heartbeats. */
    const askedWhile = async (work: () => Promise<unknown> = async () => {}) => {
      const [begun, asked] = [clock.requests, counter.requests];
      const beaten = async () => {
        await work();
        return clock.requests - begun;
      };
      await expect.poll(beaten, OFTEN).toBeGreaterThanOrEqual(BEATS);
      const requests = counter.requests - asked;
      return { requests, perBeat: requests / (clock.requests - begun) };
    };
    await askedWhile();
    expect((await askedWhile()).perBeat).toBeLessThan(IDLE_PER_BEAT);
    // Surveys would be more than that: an idle page is told from one that still surveys.
    const idle = counter.requests;
    expect((await locks.survey({ mostKeys: 500, withinMs: 60_000 })).isTruncated).toBe(true);
    expect(counter.requests - idle).toBeGreaterThanOrEqual(IDLE_PER_BEAT);

    const opened = performance.now();
    const { requests } = await askedWhile(() => Promise.all(Array.from({ length: POLLERS }, poll)));
    const openMs = performance.now() - opened;
    expect({ requests, openMs, isTooMuch: isTooMuch(requests, openMs, mostOfSurvey) }).toMatchObject({
      isTooMuch: false,
    });
    await expect.poll(poll, OFTEN).toMatchObject({ isTruncated: true });

    // Requests of the last survey may still be on their way.
    await askedWhile();
    expect((await askedWhile()).perBeat).toBeLessThan(IDLE_PER_BEAT);

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
