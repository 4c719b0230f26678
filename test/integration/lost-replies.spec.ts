import { describe, expect, inject, it } from 'vitest';
import { fencingTokenOf } from '../../lib/contract/granted-lease.js';
import { OpCode } from '../../lib/zookeeper/wire/codes.js';
import { freshBasePath } from '../support/base-path.js';
import { openReplyThief } from '../support/reply-thief.js';
import { lost } from '../support/lost.js';
import { openService } from '../support/services.js';
import type { ServiceOptions } from '../support/services.js';
import { contendersAt, openClient, untilContenders } from '../support/znodes.js';
import { openProxy } from './driver/support/open-proxy.js';

const connectString = inject('zookeeper');

async function behindThief(options: Partial<ServiceOptions> = {}) {
  const basePath = freshBasePath();
  const thief = await openReplyThief(connectString);
  const service = await openService({ ...options, connectString: thief.connectString, basePath });
  const client = await openClient(connectString);
  return { basePath, thief, service, client, path: `${basePath}/k` };
}

describe('a create whose reply was lost', () => {
  it.each([
    ['applied, the parents being there', OpCode.create2, true, 'warm'],
    ['applied together with its parents', OpCode.multi, true, 'cold'],
    ['not applied', OpCode.create2, false, 'warm'],
  ] as const)('is found again or made once more, never twice: %s', async (_, opType, isApplied, state) => {
    const { thief, service, client, path } = await behindThief();
    if (state === 'warm') await service.using('k', () => {});
    const cut = isApplied ? thief.stealNext(opType) : thief.cutBefore(opType);

    const lease = await service.acquire('k');

    await cut;
    expect(await contendersAt(client, path)).toHaveLength(1);
    expect(lease.isHeld()).toBe(true);
    const [name = ''] = await contendersAt(client, path);
    expect(lease.fencingToken).toBe(fencingTokenOf((await client.read(`${path}/${name}`)).stat.czxid));
    await lease.release();
    expect(await contendersAt(client, path)).toEqual([]);
  });

  it('is removed when its caller has given up meanwhile', async () => {
    const { thief, service, client, path } = await behindThief();
    await service.using('k', () => {});
    const abort = new AbortController();
    const cut = thief.stealNext(OpCode.create2);
    const waiting = service.acquire('k', { signal: abort.signal });
    await cut;
    abort.abort(new Error('gave up'));

    await expect(waiting).rejects.toThrow('gave up');
    expect(await untilContenders(client, path, 0)).toEqual([]);
    expect((await service.acquire('k')).isHeld()).toBe(true);
  });

  it('is granted, or leaves nothing if another contender holds the key, with line: none', async () => {
    const { basePath, thief, service, client, path } = await behindThief();
    const next = await openService({ connectString, basePath });
    const lockOf = (of = service) => of.mutex('k', { line: 'none' });
    await lockOf().using(() => {});

    const cut = thief.stealNext(OpCode.create2);
    const lease = await lockOf().tryAcquire();
    await cut;
    expect(lease?.isHeld()).toBe(true);
    await lease?.release();

    const theirs = await lockOf(next).acquire();
    const cutAgain = thief.stealNext(OpCode.create2);
    expect(await lockOf().tryAcquire()).toBeNull();
    await cutAgain;
    expect(await contendersAt(client, path)).toHaveLength(1);
    expect(theirs.isHeld()).toBe(true);
  });
});

describe('a delete whose reply was lost', () => {
  it('completes the release and deletes the znode', async () => {
    const { thief, service, client, path } = await behindThief();
    const lease = await service.acquire('k');
    const cut = thief.stealNext(OpCode.delete);
    await lease.release();
    await cut;
    expect(await untilContenders(client, path, 0)).toEqual([]);
  });

  it('is sent again when it did not arrive', async () => {
    const { thief, service, client, path } = await behindThief();
    const lease = await service.acquire('k');
    const cut = thief.cutBefore(OpCode.delete);
    await lease.release();
    await cut;
    expect(await untilContenders(client, path, 0)).toEqual([]);
  });
});

describe('a waiter', () => {
  it('keeps its place through a disconnection, and gets the missed events', async () => {
    const { basePath, thief, service, client, path } = await behindThief();
    const holder = await openService({ connectString, basePath });
    const lease = await holder.acquire('k');
    const waiting = service.acquire('k');
    const before = await untilContenders(client, path, 2);

    const cut = thief.stealNext(OpCode.multi);
    await cut;
    await lease.release();

    expect((await waiting).isHeld()).toBe(true);
    expect(await contendersAt(client, path)).toEqual(before.slice(1));
  });
});

describe('an acquisition that is pending when the servers become unreachable', () => {
  it('is rejected in time if it is a single attempt', async () => {
    const { thief, service } = await behindThief({ connectTimeoutMs: 2_000 });
    await service.using('k', () => {});
    thief.isOpen = false;
    const cut = thief.cutBefore(OpCode.create2);
    const asking = expect(service.tryAcquire('k')).rejects.toMatchObject({ code: 'LOCK_UNAVAILABLE' });
    await cut;
    await asking;
  });

  it('does not report contention when its time runs out', async () => {
    const basePath = freshBasePath();
    const proxy = await openProxy(connectString);
    const open = (to: string) => openService({ connectString: to, basePath });
    const [holder, service, client] = await Promise.all([
      open(connectString),
      open(proxy.connectString),
      openClient(connectString),
    ]);
    await holder.acquire('k');
    const waiting = expect(service.acquire('k', { waitMs: 4_000 })).rejects.toMatchObject({ code: 'LOCK_UNAVAILABLE' });
    await untilContenders(client, `${basePath}/k`, 2);
    proxy.refuse();
    proxy.disconnect();
    await waiting;
  });
});

describe('a key that is taken without a wait queue', () => {
  it('stays with the next holder when the previous one repeats its delete', async () => {
    const { basePath, thief, service, client, path } = await behindThief();
    const [next, last] = await Promise.all([0, 1].map(() => openService({ connectString, basePath })));
    const lockOf = (of = service) => of.mutex('k', { line: 'none' });
    const lease = await lockOf().acquire();
    thief.isOpen = false;
    const cut = thief.stealNext(OpCode.delete);
    const releasing = lease.release();
    await cut;

    const taken = await lockOf(next).acquire();
    thief.isOpen = true;
    await releasing;
    await service.using('another', () => {});

    expect(await contendersAt(client, path)).toHaveLength(1);
    expect(await lockOf(last).tryAcquire()).toBeNull();
    expect(taken.isHeld()).toBe(true);
  });

  it('is lost when another contender has acquired it after an external deletion', async () => {
    const { basePath, service, client, path } = await behindThief();
    const next = await openService({ connectString, basePath });
    const lease = await service.mutex('k', { line: 'none' }).acquire();
    const [name = ''] = await contendersAt(client, path);
    await client.delete(`${path}/${name}`);
    const taken = await next.mutex('k', { line: 'none' }).acquire();

    await lost(lease);

    expect(lease.signal.reason).toMatchObject({ code: 'LOCK_LOST' });
    await lease.release();
    expect(await contendersAt(client, path)).toHaveLength(1);
    expect(taken.isHeld()).toBe(true);
  });
});

describe('a contender deleted from outside', () => {
  it('loses its lease', async () => {
    const { service, client, path } = await behindThief();
    const lease = await service.acquire('k');
    const [name = ''] = await contendersAt(client, path);
    await client.delete(`${path}/${name}`);
    await lost(lease);
    expect([lease.state, lease.isHeld()]).toEqual(['lost', false]);
  });

  it('is queued again while it waits', async () => {
    const { basePath, service, client, path } = await behindThief();
    const holder = await openService({ connectString, basePath });
    await holder.acquire('k');
    const waiting = service.acquire('k');
    const [first, second] = await untilContenders(client, path, 2);
    await client.multi([first, second].map((name) => ({ type: 'delete' as const, path: `${path}/${name}` })));
    expect((await waiting).isHeld()).toBe(true);
  });
});
