import { AsyncLocalStorage } from 'node:async_hooks';
import { describe, expect, inject, it } from 'vitest';
import type { Lease } from '../../lib/contract/lease.js';
import type { Lock } from '../../lib/contract/lock.js';
import { OpCode } from '../../lib/zookeeper/wire/codes.js';
import { freshBasePath } from '../support/base-path.js';
import { eventually } from '../support/eventually.js';
import { openReplyThief } from '../support/reply-thief.js';
import { openService } from '../support/services.js';
import { contendersAt, openClient, untilContenders, untilWatched } from '../support/znodes.js';

const connectString = inject('zookeeper');
const OPEN = [{ permissions: 31, scheme: 'world', id: 'anyone' }] as const;

describe.each([true, false])('a writer that downgrades to a reader, with localLine %s', (localLine) => {
  async function prices(sessionTimeoutMs?: number) {
    const basePath = freshBasePath();
    const thief = await openReplyThief(connectString);
    const one = await openService({
      connectString: thief.connectString,
      basePath,
      localLine,
      ...(sessionTimeoutMs !== undefined && { sessionTimeoutMs }),
    });
    const other = await openService({ connectString, basePath });
    const client = await openClient(connectString);
    return {
      basePath,
      thief,
      one: one.readWriteLock('k'),
      other: other.readWriteLock('k'),
      client,
      path: `${basePath}/k`,
    };
  }

  it('admits the waiting readers, and the next writer only when all readers are out', async () => {
    const { one, other, client, path } = await prices();
    const entered: string[] = [];
    let read!: { release(): Promise<void> };
    let behind!: Promise<unknown>[];
    let token = 0n;
    await one.write.using(async (writer) => {
      token = writer.fencingToken;
      const readers = [1, 2].map(() => other.read.acquire().then((lease) => (entered.push('reader'), lease)));
      await untilContenders(client, path, 3);
      const writing = other.write.acquire().then((lease) => (entered.push('writer'), lease));
      await untilContenders(client, path, 4);
      const late = other.read.acquire().then((lease) => (entered.push('late reader'), lease));
      await untilContenders(client, path, 5);
      behind = [...readers, writing, late];
      read = await one.read.acquire();
    });
    const [first, second] = await Promise.all(behind.slice(0, 2));
    const names = await contendersAt(client, path);
    expect(names.map((name) => /[A-Z]+/.exec(name)?.[0])).toEqual(['READ', 'READ', 'READ', 'WRIT', 'READ']);
    expect(entered).toEqual(['reader', 'reader']);
    await Promise.all([first, second].map((lease) => (lease as typeof read).release()));
    await untilContenders(client, path, 3);
    expect(await other.write.tryAcquire()).toBeNull();
    expect(entered).toEqual(['reader', 'reader']);

    await read.release();
    const writer = (await behind[2]) as typeof read & { readonly fencingToken: bigint };
    expect(writer.fencingToken).toBeGreaterThan(token);
    expect(entered).toEqual(['reader', 'reader', 'writer']);
    await writer.release();
    await ((await behind[3]) as typeof read).release();
    expect(await untilContenders(client, path, 0)).toEqual([]);
  });

  it('admits those of its own process in the same order', async () => {
    const { one, other, client, path } = await prices();
    const elsewhere = AsyncLocalStorage.snapshot();
    const entered: string[] = [];
    const enter = (lock: Lock, name: string) =>
      elsewhere(() => lock.acquire().then((lease) => (entered.push(name), lease)));
    let behind!: Promise<Lease>[];
    const reading = await one.write.using(async () => {
      behind = [enter(one.read, 'reader')];
      await untilContenders(client, path, 2);
      behind.push(enter(one.write, 'writer'));
      if (!localLine) await untilContenders(client, path, 3);
      return one.read.acquire();
    });
    await (await behind[0]!).release();
    // The waiting contenders have been notified, and have checked their position again.
    await untilContenders(client, path, 2);
    expect(await other.write.tryAcquire()).toBeNull();
    expect(entered).toEqual(['reader']);
    await reading.release();
    await (await behind[1]!).release();
    expect(await untilContenders(client, path, 0)).toEqual([]);
  });

  it('has the writer’s number, and a znode at every moment', async () => {
    const { one, client, path } = await prices();
    const seen: number[] = [];
    let isOver = false;
    let looking: Promise<void> | undefined;
    const lease = await one.write.using(async () => {
      const [writer = ''] = await untilContenders(client, path, 1);
      looking = (async () => {
        while (!isOver) seen.push((await contendersAt(client, path)).length);
      })();
      const reading = await one.read.acquire();
      return { reading, number: writer.slice(-10) };
    });
    expect(await contendersAt(client, path)).toEqual([
      expect.stringMatching(`^_c_[0-9a-f-]{36}-__READ__${lease.number}$`),
    ]);
    isOver = true;
    await looking;
    expect(new Set(seen)).toEqual(new Set([1]));
    await lease.reading.release();
    expect(await untilContenders(client, path, 0)).toEqual([]);
  });

  it.each([
    ['applied', 'stealNext'],
    ['not applied', 'cutBefore'],
  ] as const)('is completed after a lost connection: %s', async (_, cutAt) => {
    const { one, other, thief, client, path } = await prices();
    await one.write.using(() => {});
    let cut: Promise<void> | undefined;
    const reading = await one.write.using(async () => {
      const lease = await one.read.acquire();
      cut = thief[cutAt](OpCode.multi);
      return lease;
    });
    await cut;
    const also = await other.read.acquire();
    expect([reading.isHeld(), also.isHeld()]).toEqual([true, true]);
    expect(await contendersAt(client, path)).toHaveLength(2);
    expect(await other.write.tryAcquire()).toBeNull();
    await Promise.all([reading.release(), also.release()]);
    expect(await untilContenders(client, path, 0)).toEqual([]);
  });

  it('is lost when its znode is deleted from outside', async () => {
    const { one, client, path } = await prices();
    const reading = await one.write.using(() => one.read.acquire());
    const [name = ''] = await contendersAt(client, path);
    await client.delete(`${path}/${name}`);
    await eventually(() => reading.state === 'lost', 'it is told');
    expect(reading.isHeld()).toBe(false);
  });

  it('outlives many heartbeats and its own watch', async () => {
    const { one, other, thief, path } = await prices(6_000);
    let reading!: { isHeld(): boolean; release(): Promise<void> };
    await one.write.using(async () => {
      await untilWatched(connectString, `${path}/`);
      reading = await one.read.acquire();
    });
    // A heartbeat is a transaction that checks the znodes of the session.
    await thief.passed(OpCode.multi, 4);
    expect(reading.isHeld()).toBe(true);
    expect(await other.write.tryAcquire()).toBeNull();
    await reading.release();
    await (await other.write.acquire()).release();
  });
});

describe('a writer of Curator 5.5 that downgrades to a reader', () => {
  it.each([true, false])(
    'excludes our writers and admits our waiting readers, with localLine %s',
    async (localLine) => {
      const basePath = freshBasePath();
      const path = `${basePath}/k`;
      const service = await openService({ connectString, basePath, localLine });
      const { read, write } = service.readWriteLock('k');
      const curator = await openClient(connectString);
      const data = Buffer.from('127.0.0.1');
      const id = '_c_11111111-2222-4333-8444-555555555555';
      // The server removes an empty directory, so our reader keeps it until the writer's znode exists.
      const writer = await read.using(() =>
        curator.create({ path: `${path}/${id}-__WRIT__`, data, acl: OPEN, mode: 3 }),
      );
      const number = writer.path.slice(-10);
      const entered: string[] = [];
      const reading = read.acquire().then((lease) => (entered.push('reader'), lease));
      await untilContenders(curator, path, 2);
      const writing = write.acquire().then((lease) => (entered.push('writer'), lease));
      await untilContenders(curator, path, 3);

      const reader = `${path}/_c_99999999-2222-4333-8444-555555555555-__READ__${number}`;
      await curator.create({ path: reader, data, acl: OPEN, mode: 1 });
      await curator.delete(writer.path);

      await (await reading).release();
      await untilContenders(curator, path, 2);
      expect(await write.tryAcquire()).toBeNull();
      expect(entered).toEqual(['reader']);
      await curator.delete(reader);
      await (await writing).release();
      expect(await untilContenders(curator, path, 0)).toEqual([]);
    },
  );
});
