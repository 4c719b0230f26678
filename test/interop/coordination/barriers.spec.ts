import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { freshBasePath } from '../../support/base-path.js';
import { openCoordination } from '../../support/coordination/services.js';
import { contendersAt, openClient, untilContenders } from '../../support/znodes.js';
import type { ForeignProcess } from '../support/foreign-process.js';
import { startJava, startPython } from '../support/start.js';

const connectString = inject('zookeeper');
const ARGS = [connectString, '4000'];

describe.each([
  ['Curator', () => startJava('Barriers', ARGS)],
  ['kazoo', () => startPython('coordination', ARGS)],
])('with %s', (_name, start) => {
  let foreign: ForeignProcess;

  beforeAll(() => {
    foreign = start();
  });
  afterAll(() => foreign.kill());

  it('a barrier blocks waiters of both sides, and is lifted by either', async () => {
    const path = freshBasePath();
    const service = await openCoordination({ connectString });
    const client = await openClient(connectString);
    await foreign.call('raise', { path });
    expect(await service.barrier(path).isUp()).toBe(true);
    const waiting = service.barrier(path).wait();
    await foreign.call('lift', { path });
    await waiting;
    await service.barrier(path).raise();
    expect(await foreign.call('wait', { path, waitMs: 100 })).toBe(false);
    const passed = foreign.call('wait', { path, waitMs: 20_000 });
    await service.barrier(path).lift();
    expect(await passed).toBe(true);
    await expect(client.read(path)).rejects.toThrow(/noNode/);
  });

  it('a double barrier is entered and left together, round after round, with any of them last', async () => {
    const path = freshBasePath();
    const [service, client] = await Promise.all([openCoordination({ connectString }), openClient(connectString)]);
    const barrier = service.doubleBarrier(path, { count: 3 });
    for (const isForeignLast of [true, false]) {
      const ours = [barrier.enter()];
      await untilContenders(client, path, 1);
      if (isForeignLast) {
        ours.push(barrier.enter());
        await untilContenders(client, path, 2);
        await foreign.call('enter', { path, count: 3 });
      } else {
        const theirs = foreign.call('enter', { path, count: 3 });
        await untilContenders(client, path, 2);
        ours.push(barrier.enter());
        await theirs;
      }
      const members = await Promise.all(ours);
      await Promise.all([...members.map((member) => member.leave()), foreign.call('leave', { path })]);
      const left = await contendersAt(client, path);
      expect(left.filter((name) => name !== 'ready')).toEqual([]);
      expect(left).toEqual([]);
    }
  });
});
