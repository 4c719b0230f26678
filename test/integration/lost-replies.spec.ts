import { describe, expect, inject, it } from 'vitest';
import { OpCode } from '../../lib/zookeeper/wire/op-codes.js';
import { freshBasePath } from '../support/base-path.js';
import { openReplyThief } from '../support/reply-thief.js';
import { openService } from '../support/services.js';
import { contendersAt, openClient, untilContenders } from '../support/znodes.js';

const connectString = inject('zookeeper');

async function behindThief() {
  const basePath = freshBasePath();
  const thief = await openReplyThief(connectString);
  const service = await openService({ connectString: thief.connectString, basePath });
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
    expect(lease.fencingToken).toBe((await client.read(`${path}/${name}`)).stat.czxid);
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

  it('is told from somebody else’s znode where all race for one', async () => {
    const { thief, service, client, path } = await behindThief();
    const lock = service.mutex('k', { line: 'none' });
    await lock.using(() => {});

    const cut = thief.stealNext(OpCode.create2);
    const lease = await lock.tryAcquire();
    await cut;
    expect(lease?.isHeld()).toBe(true);

    const cutAgain = thief.stealNext(OpCode.create2);
    expect(await lock.tryAcquire()).toBeNull();
    await cutAgain;
    expect(await contendersAt(client, path)).toEqual(['lock-0000000000']);
  });
});

describe('a delete whose reply was lost', () => {
  it('ends the release, and the znode', async () => {
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
  it('keeps its place through a disconnection, and hears of what happened meanwhile', async () => {
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
