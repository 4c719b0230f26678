import { beforeAll, describe, expect, inject, it } from 'vitest';
import { freshBasePath } from '../../support/base-path.js';
import { eventually } from '../../support/eventually.js';
import { unusedPort } from '../../support/unused-port.js';
import { compilePrograms } from './support/driver-program.js';
import { connectClient } from './support/observed-client.js';
import { openProxy } from './support/open-proxy.js';
import { createEphemeral } from './support/open-session.js';
import { serverHas, serverLists } from './support/outside.js';

const target = inject('zookeeper');
const DEADLINE_MS = 1_000;
// A machine that stalls for seconds must not fail the test. This limit only distinguishes a deadline from no deadline.
const AT_MOST_MS = 10_000;
/** A deadline that no test reaches. */
const LATE_MS = 60_000;

let start: Awaited<ReturnType<typeof compilePrograms>>;
beforeAll(async () => {
  start = await compilePrograms('close');
});

describe('the plain driver, closed', () => {
  it.each(['before connect', 'same turn'])('throws: %s', async (when) => {
    const program = start('plain-close', { connectString: target, when });
    expect(await program.ended()).toMatchObject({ code: 1, output: expect.stringContaining('TypeError') });
  });
});

describe('a program whose client was closed', () => {
  it.each(['before connect', 'same turn'])('ends by itself: %s', async (when) => {
    const program = start('client-close', { connectString: target, when });
    expect(await program.ended()).toMatchObject({ code: 0, output: '' });
    expect(program.said).toEqual(['closed', 'done']);
  });

  it.each(['connected', 'twice'])('ends by itself: %s', async (when) => {
    const program = start('client-close', { connectString: target, when });
    await program.says('connected');
    program.tell('close');
    expect(await program.ended()).toMatchObject({ code: 0, output: '' });
    expect(program.said.filter((message) => message === 'closed')).toHaveLength(1);
  });

  it('ends by itself: while it looks for a server', async () => {
    const program = start('client-close', { connectString: `127.0.0.1:${await unusedPort()}`, when: 'connecting' });
    program.tell('close');
    expect(await program.ended()).toMatchObject({ code: 0, output: '' });
    expect(program.said).toEqual(['closed', 'done']);
  });

  it('ends by itself: while a server does not answer its handshake', async () => {
    const proxy = await openProxy(target);
    proxy.blackHole();
    const program = start('client-close', { connectString: proxy.connectString, when: 'connecting' });
    await eventually(() => proxy.connections > 0 || undefined, 'a connection');
    program.tell('close');
    expect(await program.ended()).toMatchObject({ code: 0, output: '' });
    expect(program.said).toEqual(['closed', 'done']);
  });

  it.each(['toClient', 'toServer', undefined] as const)('ends by itself: half open, %s', async (direction) => {
    const proxy = await openProxy(target);
    const program = start('client-close', { connectString: proxy.connectString, when: 'half open' });
    await program.says('connected');
    proxy.blackHole(direction);
    program.tell('close');
    expect(await program.ended()).toMatchObject({ code: 0, output: '' });
    expect(program.said).toContain('done');
  });

  it('ends by itself: disconnected', async () => {
    const proxy = await openProxy(target);
    const program = start('client-close', { connectString: proxy.connectString, when: 'disconnected' });
    await program.says('connected');
    proxy.refuse();
    proxy.disconnect();
    await program.says('disconnected');
    program.tell('close');
    expect(await program.ended()).toMatchObject({ code: 0, output: '' });
  });
});

describe('a program whose service was closed', () => {
  it('ends by itself, and its contenders are gone', async () => {
    const basePath = freshBasePath();
    const program = start('service-close', { connectString: target, basePath });
    await program.says('held');
    program.tell('close');
    expect(await program.ended()).toMatchObject({ code: 0, output: '' });
    expect(await serverLists(target, `${basePath}/k`)).toEqual([]);
  });

  it('ends by itself: without a server', async () => {
    const connectString = `127.0.0.1:${await unusedPort()}`;
    const program = start('service-close', { connectString, basePath: '/x' });
    await program.says('begun');
    program.tell('close');
    expect(await program.ended()).toMatchObject({ code: 0, output: '' });
  });

  it.each([
    ['half open', 'blackHole'],
    ['disconnected', 'refuse'],
  ] as const)('ends by itself: %s', async (_, fault) => {
    const proxy = await openProxy(target);
    const program = start('service-close', { connectString: proxy.connectString, basePath: freshBasePath() });
    await program.says('held');
    proxy[fault]();
    if (fault === 'refuse') proxy.disconnect();
    program.tell('close');
    expect(await program.ended()).toMatchObject({ code: 0, output: '' });
  });
});

describe('close()', () => {
  it('deletes its znodes at once', async () => {
    const { client } = await connectClient(target);
    const { path } = await createEphemeral(client, freshBasePath());
    await client.close(DEADLINE_MS);
    expect(await serverHas(target, path)).toBe(false);
  });

  it('waits for the server, however often it is called', async () => {
    const proxy = await openProxy(target);
    const { client } = await connectClient(proxy.connectString, { sessionTimeoutMs: 10_000 });
    const { path } = await createEphemeral(client, freshBasePath());
    proxy.blackHole();
    let hasEnded = false;
    const closing = [client.close(LATE_MS), client.close(LATE_MS)].map((one) => one.then(() => (hasEnded = true)));
    // A session and requests of another client take longer than a call that waits for nothing.
    expect(await serverHas(target, path)).toBe(true);
    expect(hasEnded).toBe(false);
    proxy.heal();
    await Promise.race(closing);
    expect(await serverHas(target, path)).toBe(false);
  });

  it('keeps its deadline, settles pending requests and reports its end once', async () => {
    const proxy = await openProxy(target);
    const { client, told } = await connectClient(proxy.connectString);
    proxy.blackHole();
    const asked = expect(client.read('/')).rejects.toMatchObject({ isConnectionLoss: true });
    const startedAt = performance.now();
    await Promise.all([client.close(DEADLINE_MS), client.close(DEADLINE_MS)]);
    expect(performance.now() - startedAt).toBeLessThan(AT_MOST_MS);
    await asked;
    await client.close(DEADLINE_MS);
    expect(told).toEqual(['connected', 'ended']);
    await expect(client.read('/')).rejects.toMatchObject({ isConnectionLoss: true });
  });
});
