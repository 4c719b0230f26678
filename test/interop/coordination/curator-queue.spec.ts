import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import type { CoordinationService } from '../../../lib/index.js';
import { freshBasePath } from '../../support/base-path.js';
import { openCoordination } from '../../support/coordination/services.js';
import { openClient } from '../../support/znodes.js';
import type { ForeignProcess } from '../support/foreign-process.js';
import { startJava } from '../support/start.js';

const connectString = inject('zookeeper');
const text = {
  encode: (value: string) => Buffer.from(value),
  decode: (bytes: Uint8Array) => Buffer.from(bytes).toString(),
};

const start = () => startJava('Queues', [connectString, '4000']);
const received = (java: ForeignProcess, waitMs = 20_000) => java.call<string | null>('received', { waitMs });
const values = async (service: CoordinationService, path: string, atMost: number) => {
  const items = await service.queue(path, { codec: text }).takeBatch({ atMost });
  return items.map(({ value }) => value);
};

describe('a queue shared with Curator', () => {
  let java: ForeignProcess;

  beforeAll(() => {
    java = start();
  });
  afterAll(() => java.kill());

  it('delivers items between Node and Java in order, in both directions', async () => {
    const path = freshBasePath();
    const service = await openCoordination({ connectString });
    await java.call('put', { path, values: ['a', 'b', 'ü'] });
    const items = await service.queue(path, { codec: text }).takeBatch({ atMost: 9 });
    expect(items.map(({ value }) => value)).toEqual(['a', 'b', 'ü']);
    expect(new Set(items.map(({ id }) => id)).size).toBe(3);
    await Promise.all(items.map((item) => item.ack()));
    await java.call('consume', { path });
    await service.queue(path, { codec: text }).putAll(['c', 'd']);
    await service.queue(path, { codec: text }).put('e');
    expect([await received(java), await received(java), await received(java)]).toEqual(['c', 'd', 'e']);
  });

  it('splits an item of several values, and removes it with the last value', async () => {
    const path = freshBasePath();
    const [service, client] = await Promise.all([openCoordination({ connectString }), openClient(connectString)]);
    await java.call('put', { path, values: ['a', 'b', 'c'], together: true });
    const [a, b, c] = await service.queue(path, { codec: text }).takeBatch({ atMost: 1 });
    expect([a, b, c].map((item) => item?.value)).toEqual(['a', 'b', 'c']);
    await a!.ack();
    await b!.nack();
    await c!.ack();
    const again = await service.queue(path, { codec: text }).takeBatch({ atMost: 1 });
    expect(again.map(({ value }) => value)).toEqual(['a', 'b', 'c']);
    await Promise.all(again.map((item) => item.ack()));
    expect(await client.children(path)).toEqual([]);
    expect(await client.children(`${path}-claims`)).toEqual([]);
  });

  it('delivers to Node the item that a killed Java consumer had taken', async () => {
    const path = freshBasePath();
    const service = await openCoordination({ connectString });
    const victim = start();
    await victim.call('consume', { path, forever: true });
    await service.queue(path, { codec: text }).put('first');
    expect(await received(victim)).toBe('first');
    await service.queue(path, { codec: text }).put('second');
    expect(await values(service, path, 9)).toEqual(['second']);
    expect(await service.queue(path).take({ waitMs: 0 })).toBeNull();
    await victim.kill();
    expect(await values(service, path, 1)).toEqual(['first']);
  });

  it('does not deliver to Java an item taken by Node, until Node returns it', async () => {
    const path = freshBasePath();
    const service = await openCoordination({ connectString });
    const consumer = start();
    await service.queue(path, { codec: text }).putAll(['taken', 'free']);
    const item = (await service.queue(path, { codec: text }).take())!;
    await consumer.call('consume', { path });
    expect(await received(consumer)).toBe('free');
    expect(await received(consumer, 300)).toBeNull();
    await item.nack();
    // Curator's consumers do not watch the claims of others. The next item makes them look again.
    await service.queue(path, { codec: text }).put('next');
    expect([await received(consumer), await received(consumer)]).toEqual(['taken', 'next']);
    await consumer.kill();
  });
});
