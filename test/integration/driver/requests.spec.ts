import { beforeAll, describe, expect, it, vi } from 'vitest';
import { ZooKeeperServer } from '../../../lib/testing/index.js';
import { freshBasePath } from '../../support/base-path.js';
import { eventually } from '../../support/eventually.js';
import { compilePrograms } from './support/driver-program.js';
import { connectClient } from './support/observed-client.js';
import { createEphemeral, createPersistent, OPEN_ACL } from './support/open-session.js';
import { isThere } from './support/outside.js';
import { openPlain, PERSISTENT, plainly } from './support/plain-client.js';

const CONTAINER_MODE = 4;

let server: ZooKeeperServer;
let target: string;
let start: Awaited<ReturnType<typeof compilePrograms>>;
beforeAll(async () => {
  start = await compilePrograms('requests');
  server = await ZooKeeperServer.start({ containerCheckIntervalMs: 200 });
  target = server.connectString;
  return () => server.stop();
});

/** The number of watches that the server keeps. */
async function watchesKept(): Promise<number> {
  return Number(/Total watches:(\d+)/.exec(await server.ask('wchs'))![1]);
}

describe('the plain driver', () => {
  it('accepts every version where a transaction names version 0', async () => {
    const plain = await openPlain(target);
    const path = freshBasePath();
    await plainly<string>((done) => plain.create(path, Buffer.from('0'), PERSISTENT, done));
    await plainly<object>((done) => plain.setData(path, Buffer.from('1'), done));
    await plainly<unknown[]>((done) =>
      plain.transaction().check(path, 0).setData(path, Buffer.from('2'), 0).commit(done),
    );
    expect((await plainly<Buffer>((done) => plain.getData(path, done))).toString()).toBe('2');
  });

  it('throws on invalid input instead of calling back', async () => {
    const plain = await openPlain(target);
    expect(() => plain.getData('no-slash', () => {})).toThrow(/must start with/);
  });

  it('ends the process when a callback throws', async () => {
    const program = start('plain-throwing', { connectString: target });
    expect(await program.ended()).toMatchObject({ output: expect.stringContaining('thrown by a callback') });
    expect(program.said).toEqual([]);
  });

  it('keeps watches on missing znodes forever, and every watcher of existing ones', async () => {
    const plain = await openPlain(target);
    const before = await watchesKept();
    const base = freshBasePath();
    for (let index = 0; index < 10; index++) {
      await plainly<object | null>((done) => plain.exists(`${base}-${index}`, () => {}, done));
    }
    expect(await watchesKept()).toBe(before + 10);
    const warn = vi.spyOn(process, 'emitWarning').mockReturnValue();
    for (let index = 0; index < 11; index++) {
      await plainly<Buffer>((done) => plain.getData('/', () => {}, done));
    }
    expect(warn.mock.calls).toEqual([[expect.objectContaining({ name: 'MaxListenersExceededWarning' })]]);
    warn.mockRestore();
  });
});

describe('a client', () => {
  it('creates containers that are removed when empty; the plain driver’s stay', async () => {
    const plain = await openPlain(target);
    const { client } = await connectClient(target);
    const [ours, theirs] = [freshBasePath(), freshBasePath()];
    await plainly<string>((done) => plain.create(theirs, Buffer.alloc(0), CONTAINER_MODE, done));
    await client.create({ path: ours, data: Buffer.alloc(0), acl: OPEN_ACL, mode: CONTAINER_MODE });
    for (const path of [theirs, ours]) {
      await createPersistent(client, `${path}/child`);
      await client.delete(`${path}/child`);
    }
    await eventually(async () => !(await isThere(client, ours)) || undefined, 'the container gone');
    expect(await isThere(client, theirs)).toBe(true);
  });

  it('knows the zxid of a created znode without another request', async () => {
    const { client } = await connectClient(target);
    const { path, czxid } = await createEphemeral(client, freshBasePath());
    expect((await client.read(path)).stat.czxid).toBe(czxid);
  });

  it('rejects a request that the server refuses, and continues', async () => {
    const { client, told } = await connectClient(target);
    const bad = { path: 'no-slash', data: Buffer.alloc(0), acl: OPEN_ACL, mode: 0 } as const;
    await expect(client.create(bad)).rejects.toMatchObject({ name: 'KeeperError' });
    await client.read('/');
    expect(told).toEqual(['connected']);
  });

  it('continues when a caller throws on a reply', async () => {
    const { client } = await connectClient(target);
    const answers = await Promise.allSettled([
      client.read('/').then(() => Promise.reject(new Error('thrown at an answer'))),
      client.read('/'),
    ]);
    expect(answers.map(({ status }) => status)).toEqual(['rejected', 'fulfilled']);
  });

  it('keeps no watch on a missing znode', async () => {
    const { client } = await connectClient(target);
    const before = await watchesKept();
    await expect(client.watch(freshBasePath())).rejects.toMatchObject({ message: expect.stringContaining('noNode') });
    expect(await watchesKept()).toBe(before);
  });

  it('fires a watch for a change after a given zxid, and only for such a change', async () => {
    const { client } = await connectClient(target);
    const path = freshBasePath();
    await createPersistent(client, path);
    const { stat } = await client.read(path);
    const unchanged = await client.watch(path, stat.czxid);
    const fired = vi.fn<() => void>();
    void unchanged.fired.then(fired);
    await client.sync(path);
    expect(fired).not.toHaveBeenCalled();
    await client.multi([{ type: 'setData', path, data: Buffer.from('other'), version: 0 }]);
    await expect(unchanged.fired).resolves.toBe('changed');
    const changed = await client.watch(path, stat.czxid);
    await expect(changed.fired).resolves.toBe('changed');
  });

  it('sets the watches of one turn with one request, and rejects those of missing znodes', async () => {
    const { client } = await connectClient(target);
    const path = freshBasePath();
    await createPersistent(client, path);
    const before = await watchesKept();
    const set = await Promise.allSettled([client.watch(path), client.watch(`${path}/none`)]);
    expect(set.map(({ status }) => status)).toEqual(['fulfilled', 'rejected']);
    expect(set[1]).toMatchObject({ reason: { path: `${path}/none`, message: expect.stringContaining('noNode') } });
    expect(await watchesKept()).toBe(before + 1);
    await client.delete(path);
    const [first] = set;
    expect(first.status === 'fulfilled' && (await first.value.fired)).toBe('deleted');
  });

  it('shares one watch among all watchers of a znode, and removes it with the last', async () => {
    const { client } = await connectClient(target);
    const path = freshBasePath();
    await createPersistent(client, path);
    const before = await watchesKept();
    const warn = vi.spyOn(process, 'emitWarning');
    const watches = await Promise.all(Array.from({ length: 50 }, () => client.watch(path)));
    expect(await watchesKept()).toBe(before + 1);
    watches.slice(1).forEach((watch) => watch.remove());
    await client.sync(path);
    expect(await watchesKept()).toBe(before + 1);
    watches[0]!.remove();
    await eventually(async () => (await watchesKept()) === before || undefined, 'no watch');
    expect(warn).not.toHaveBeenCalled();
    warn.mockRestore();
  });

  it('keeps no watch of callers that gave up, across reconnects either', async () => {
    const { client, next } = await connectClient(target);
    const base = freshBasePath();
    await createPersistent(client, base);
    const before = await watchesKept();
    const watches = await Promise.all(Array.from({ length: 20 }, () => client.watch(base)));
    watches.forEach((watch) => watch.remove());
    const again = next('connected');
    client.dropLink();
    await again;
    await client.sync(base);
    expect(await watchesKept()).toBe(before);
  });
});
