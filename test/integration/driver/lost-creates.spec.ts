import { describe, expect, inject, it } from 'vitest';
import { fencingTokenOf } from '../../../lib/contract/granted-lease.js';
import { OpCode } from '../../../lib/zookeeper/wire/codes.js';
import { freshBasePath } from '../../support/base-path.js';
import { openReplyThief } from '../../support/reply-thief.js';
import { openService } from '../../support/services.js';
import { contendersAt, openClient, untilContenders } from '../../support/znodes.js';
import { openProxy } from './support/open-proxy.js';
import { createPersistent } from './support/open-session.js';
import { EPHEMERAL_SEQUENTIAL, makePlain, openPlain, plainly, said } from './support/plain-client.js';

const target = inject('zookeeper');

describe('the plain driver, when the reply of a create is lost', () => {
  it('creates a second znode when it retries, and knows only that one', async () => {
    const outside = await openClient(target);
    const directory = freshBasePath();
    await createPersistent(outside, directory);
    const thief = await openReplyThief(target);
    const plain = makePlain(thief.connectString, { retries: 3 });
    const connected = said(plain, 'connected');
    plain.connect();
    await connected;

    const stolen = thief.stealNext(OpCode.create);
    const path = plainly<string>((done) =>
      plain.create(`${directory}/lock-`, Buffer.alloc(0), EPHEMERAL_SEQUENTIAL, done),
    );
    await stolen;

    expect(await path).toBe(`${directory}/lock-0000000001`);
    expect(await contendersAt(await openClient(target), directory)).toEqual(['lock-0000000000', 'lock-0000000001']);
  });

  it('leaves an unknown znode behind when it does not retry', async () => {
    const outside = await openClient(target);
    const directory = freshBasePath();
    await createPersistent(outside, directory);
    const thief = await openReplyThief(target);
    const plain = await openPlain(thief.connectString);
    const stolen = thief.stealNext(OpCode.create);
    const path = plainly<string>((done) =>
      plain.create(`${directory}/lock-`, Buffer.alloc(0), EPHEMERAL_SEQUENTIAL, done),
    );
    await expect(path).rejects.toMatchObject({ name: 'CONNECTION_LOSS' });
    await stolen;
    expect(await contendersAt(await openClient(target), directory)).toEqual(['lock-0000000000']);
  });
});

describe('a create whose reply was cut off', () => {
  it.each([0, 2, 20, 60])('is found again, once, with its own token: after %s bytes', async (bytes) => {
    const basePath = freshBasePath();
    const proxy = await openProxy(target);
    const service = await openService({ connectString: proxy.connectString, basePath, sessionTimeoutMs: 30_000 });
    await service.using('k', () => {});

    // No ping is due for five seconds, so the next message of the server is the reply to the create.
    proxy.cutAfter(bytes);
    const lease = await service.acquire('k');

    const outside = await openClient(target);
    const names = await contendersAt(outside, `${basePath}/k`);
    expect([names.length, proxy.accepted]).toEqual([1, 2]);
    expect(lease.fencingToken).toBe(fencingTokenOf((await outside.read(`${basePath}/k/${names[0]}`)).stat.czxid));
    expect(lease.isHeld()).toBe(true);
    await lease.release();
    expect(await untilContenders(outside, `${basePath}/k`, 0)).toEqual([]);
  });

  it('is found again among many pending creates', async () => {
    const basePath = freshBasePath();
    const proxy = await openProxy(target);
    const service = await openService({ connectString: proxy.connectString, basePath, sessionTimeoutMs: 10_000 });
    const keys = Array.from({ length: 50 }, (_, index) => `key-${index}`);
    proxy.cutAfter(1_500);
    const leases = await Promise.all(keys.map((key) => service.acquire(key)));
    expect(leases.every((lease) => lease.isHeld())).toBe(true);
    expect(proxy.accepted).toBe(2);
    const outside = await openClient(target);
    // Creates at several keys may share a transaction, and so a number: each token is that of its own znode.
    for (const [index, key] of keys.entries()) {
      const names = await contendersAt(outside, `${basePath}/${key}`);
      expect(names).toHaveLength(1);
      const { stat } = await outside.read(`${basePath}/${key}/${names[0]}`);
      expect(leases[index]?.fencingToken).toBe(fencingTokenOf(stat.czxid));
    }
    await Promise.all(leases.map((lease) => lease.release()));
  });
});
