import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { freshBasePath } from '../../support/base-path.js';
import { openCoordination } from '../../support/coordination/services.js';
import type { ForeignProcess } from '../support/foreign-process.js';
import { startJava, startPython } from '../support/start.js';

const connectString = inject('zookeeper');
const ARGS = [connectString, '4000'];

describe('shared with Curator', () => {
  let java: ForeignProcess;

  beforeAll(() => {
    java = startJava('SharedValues', ARGS);
  });
  afterAll(() => java.kill());

  it('a counter has the same value and versions on both sides', async () => {
    const path = freshBasePath();
    const service = await openCoordination({ connectString });
    expect(await java.call('count', { path, value: -7 })).toEqual({ value: -7, version: 1 });
    expect(await service.counter(path).get()).toEqual({ value: -7, version: 1 });
    expect(await service.counter(path).add(10)).toEqual({ value: 3, version: 2 });
    expect(await java.call('count', { path })).toEqual({ value: 3, version: 2 });
  });

  it('a counter counts concurrent additions of both sides', async () => {
    const path = freshBasePath();
    const service = await openCoordination({ connectString });
    const ours = Array.from({ length: 30 }, () => service.counter(path).add(1));
    await Promise.all([java.call('add', { path, times: 30 }), ...ours]);
    expect((await service.counter(path).get()).value).toBe(60);
  });

  it('a value has the bytes that either side has written', async () => {
    const path = freshBasePath();
    const service = await openCoordination({ connectString });
    const value = service.value<Uint8Array>(path, { codec: 'bytes', initial: new Uint8Array() });
    await java.call('text', { path, value: 'from Java' });
    expect(Buffer.from((await value.get()).value).toString()).toBe('from Java');
    await value.set(Buffer.from('from Node'));
    expect(await java.call('text', { path })).toBe('from Node');
  });
});

it('a counter that supports Curator is the same on both sides with kazoo', async () => {
  const path = freshBasePath();
  const service = await openCoordination({ connectString });
  await using python = startPython('coordination', ARGS);
  await service.counter(path).set(5);
  expect(await python.call('add', { path, delta: 2 })).toBe(7);
  expect((await service.counter(path).add(-10)).value).toBe(-3);
  expect(await python.call('add', { path, delta: 1 })).toBe(-2);
});
