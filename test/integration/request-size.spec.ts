import { describe, expect, inject, it } from 'vitest';
import { CoordinationService } from '../../lib/index.js';
import type { LockService } from '../../lib/service/lock.service.js';
import { twoProcesses } from '../support/two-processes.js';
import { connectionOf } from '../../lib/service/lock.service.js';

const connectString = inject('zookeeper');
const LONG = 'x'.repeat(850);
/** Each character takes nine bytes in a path. */
const ENCODED = '\u{e000}'.repeat(80);

type Ask = (service: LockService) => Promise<unknown>;

const TOO_LARGE: readonly (readonly [what: string, ask: Ask])[] = [
  [
    'a write of many records',
    (service) => connectionOf(service).backend.records.write(namesOf(1_800).map((name) => ({ name, value: '' }))),
  ],
  ['an atomic set', (service) => service.multi(keysOf(1_000), { atomic: true }).acquire({ waitMs: 30_000 })],
  ['many permits', (service) => service.semaphore(LONG, { permits: 1_000 }).acquire({ permits: 1_000 })],
  ['many items to put', (service) => queueOf(service).putAll(Array.from({ length: 1_000 }, () => 'x'.repeat(300)))],
  ['many items to take', (service) => queueOf(service).takeBatch({ atMost: 1_000 })],
];

describe('a request that exceeds the servers’ size limit', () => {
  it.each(TOO_LARGE)('is refused without a connection loss: %s', async (_, ask) => {
    const { one, other } = await twoProcesses(connectString);
    for (let half = 0; half < 2; half++) await queueOf(other).putAll(Array.from({ length: 500 }, () => 'item'));
    await using lease = await one.acquire('another');
    const states = new Set<string>();
    const looking = setInterval(() => states.add(lease.state), 1);
    await expect(ask(one)).rejects.toMatchObject({
      code: 'LOCK_CONFIGURATION',
      message: expect.stringMatching(/the request has \d{7} bytes, and servers take 1048575/) as string,
    });
    clearInterval(looking);
    expect(await connectionOf(one).backend.records.read('still answered')).toBeUndefined();
    states.delete('held');
    expect(states).toEqual(new Set());
  });
});

function queueOf(service: LockService) {
  return new CoordinationService(service).queue<string>(LONG);
}

function keysOf(count: number): string[] {
  return Array.from({ length: count }, (_, n) => `${LONG}/${n}`);
}

function namesOf(count: number): string[] {
  return Array.from({ length: count }, (_, n) => `${ENCODED}${n}`);
}
