import { randomUUID } from 'node:crypto';
import { expect, it, onTestFinished, vi } from 'vitest';
import { runCommand } from '../../lib/command/run-command.js';
import { SLOTS } from '../../lib/redis/client/hash-slot.js';
import { redis } from '../../lib/redis/index.js';
import type { RedisOptions } from '../../lib/redis/index.js';
import { RedisBackend } from '../../lib/redis/redis.backend.js';
import { RedisServer } from '../../lib/testing/index.js';
import { commandIo } from '../unit/command/command-io.js';
import type { Settings } from '../unit/command/command-io.js';
import { unusedPort } from '../support/unused-port.js';
import { AnsweringProxy } from './support/answering-proxy.js';
import { ask } from './support/ask.js';
import { clientsOf, hold } from './support/clients.js';
import { fakeSentinel } from './support/fake-sentinel.js';
import type { Address } from './support/fake-sentinel.js';

it('commands show the locks on a Redis server, and what its settings may forget', async () => {
  await using server = await RedisServer.start();
  const basePath = `locks/${randomUUID()}`;
  await hold(clientsOf({ basePath, restartDelayMs: 0 })(server.url), 'orders/42', { label: 'Orders.place' });
  const run = async (...args: string[]) => {
    const io = commandIo({ env: { REDIS_URL: server.url } });
    const common = ['--backend', 'redis', '--connect', server.url, '--base-path', basePath, '--within', '30s'];
    return { code: await runCommand([...args, ...common], io), ...io.written() };
  };
  expect(await run('list')).toMatchObject({
    code: 0,
    said: expect.stringMatching(/^lock +orders\/42 +Orders\.place \(/m),
  });
  const { code, said } = await run('doctor', '--json');
  expect(code).toBe(1);
  expect(JSON.parse(said)).toContainEqual({
    check: 'durability',
    result: 'wrong',
    found: 'records and queues: may be lost',
    change: expect.stringContaining('set appendonly to yes'),
  });
  expect(JSON.parse(said)).toContainEqual(expect.objectContaining({ check: 'clock', result: 'ok' }));
});

/** Starts the only node of a cluster, which serves all slots. */
async function onlyNode(): Promise<RedisServer> {
  const settings = { 'cluster-enabled': 'yes', 'cluster-port': await unusedPort() };
  const server = await RedisServer.start({ settings });
  await ask(server.port, 'CLUSTER', 'ADDSLOTSRANGE', 0, SLOTS - 1);
  await expect.poll(async () => (await ask(server.port, 'CLUSTER', 'INFO')).join()).toContain('cluster_state:ok');
  return server;
}

it.each<[string, () => Promise<RedisServer>, (at: Address) => Promise<RedisOptions>, (at: Address) => Promise<string>]>(
  [
    [
      'shards',
      () => RedisServer.start(),
      async ({ host, port }) => ({ url: `redis://${host}:${port}`, shards: 2 }),
      async ({ host, port }) => `--connect redis://${host}:${port} --shards 2`,
    ],
    [
      'a cluster',
      onlyNode,
      async (at) => ({ cluster: [at], shards: 2 }),
      async ({ host, port }) => `--cluster ${host}:${port} --shards 2`,
    ],
    [
      'sentinels',
      () => RedisServer.start(),
      async (at) => ({ sentinels: { name: 'shop', sentinels: [await fakeSentinel(at)] } }),
      async (at) => {
        const { host, port } = await fakeSentinel(at);
        return `--sentinels ${host}:${port} --sentinel-name shop`;
      },
    ],
  ],
)('list shows the locks of an application with %s', async (_what, start, optionsOf, argumentsOf) => {
  await using server = await start();
  const address = { host: '127.0.0.1', port: server.port };
  const basePath = `locks/${randomUUID()}`;
  const client = redis({ ...(await optionsOf(address)), basePath, restartDelayMs: 0 }).create();
  onTestFinished(() => client.close());
  const keys = ['a', 'b', 'c', 'd', 'e', 'f'];
  for (const key of keys) await hold(client, key);
  const io = commandIo();
  const args = (await argumentsOf(address)).split(' ');
  const common = ['--backend', 'redis', '--base-path', basePath, '--within', '30s', '--timeout', '60s'];
  const code = await runCommand(['list', '--json', ...args, ...common], io);
  const { said, complained } = io.written();
  expect([code, complained]).toEqual([0, '']);
  const listed = (JSON.parse(said) as { keys: { key: string }[] }).keys.map(({ key }) => key);
  expect(listed.toSorted()).toEqual(keys);
});

it('doctor says what to change on a server that removes keys when its memory is full', async () => {
  await using server = await RedisServer.start({
    settings: { maxmemory: '50mb', 'maxmemory-policy': 'allkeys-lru' },
  });
  const io = commandIo();
  expect(await runCommand(['doctor', '--backend', 'redis', '--connect', server.url], io)).toBe(1);
  expect(io.written().said).toContain('set maxmemory-policy to noeviction');
});

/** Runs doctor against a server that has just been started, without the wait for the leases of an earlier run. */
async function doctorOn(
  server: RedisServer,
  { url = server.url, ...settings }: Settings & { readonly url?: string } = {},
) {
  const basePath = `locks/${randomUUID()}`;
  await clientsOf({ basePath, restartDelayMs: 0 })(server.url).connect();
  const io = commandIo(settings);
  const args = [
    'doctor',
    '--backend',
    'redis',
    '--timeout',
    '60s',
    '--connect',
    url,
    '--base-path',
    basePath,
    '--json',
  ];
  return { code: await runCommand(args, io), findings: JSON.parse(io.written().said) as unknown };
}

it.each([
  ['waits until a new server grants keys', '2s', 'ok', /^a lock and a record were written/],
  ['says when a new server will grant keys', '5min', 'unknown', /the server is new, and grants keys in \d{6} ms$/],
])('doctor %s', async (_, sessionTimeout, result, found) => {
  await using server = await RedisServer.start({ settings: { appendonly: 'yes', appendfsync: 'always' } });
  const io = commandIo();
  const args = ['--backend', 'redis', '--connect', server.url, '--timeout', '30s', '--session-timeout', sessionTimeout];
  const code = await runCommand(['doctor', '--json', ...args], io);
  const findings = JSON.parse(io.written().said) as { result: string }[];
  expect(findings).toContainEqual({ check: 'rights', result, found: expect.stringMatching(found) as unknown });
  expect(findings).toContainEqual({
    check: 'server',
    result: 'ok',
    found: expect.stringMatching(/^the Redis server is new, .* it grants free keys in \d+ ms$/) as unknown,
  });
  expect(findings.filter((finding) => finding.result === 'wrong')).toEqual([]);
  expect(code).toBe(0);
});

it('doctor says so as well when the server became new after the question', async () => {
  await using server = await RedisServer.start();
  const settlingMs = vi.spyOn(RedisBackend.prototype, 'settlingMs', 'get').mockReturnValueOnce(0);
  onTestFinished(() => settlingMs.mockRestore());
  const io = commandIo();
  const args = ['--backend', 'redis', '--connect', server.url, '--timeout', '3s', '--session-timeout', '5min'];
  await runCommand(['doctor', '--json', ...args], io);
  const found = expect.stringMatching(/the server is new, and grants keys in \d{6} ms$/) as unknown;
  expect(JSON.parse(io.written().said)).toContainEqual({ check: 'rights', result: 'unknown', found });
});

it.each([
  [60_000, 'behind'],
  [-60_000, 'ahead of'],
])('doctor finds a clock that is %i ms ahead', async (aheadMs, side) => {
  await using server = await RedisServer.start();
  const { code, findings } = await doctorOn(server, { aheadMs });
  expect(code).toBe(1);
  expect(findings).toContainEqual({
    check: 'clock',
    result: 'wrong',
    found: expect.stringMatching(
      new RegExp(`^the servers: .* \\(\\d{5} ms\\) ${side} the clock of this machine`),
    ) as unknown,
    change: expect.stringContaining('NTP') as unknown,
  });
});

it('doctor finds a user that may not write below the base path', async () => {
  await using server = await RedisServer.start();
  const rights = ['~*', '&*', '+@all', '-set', '-hset', '-zadd'];
  await server.ask('ACL', 'SETUSER', 'shop', 'on', '>secret', ...rights);
  const { code, findings } = await doctorOn(server, { env: { REDIS_USERNAME: 'shop', REDIS_PASSWORD: 'secret' } });
  expect(code).toBe(1);
  const change = expect.stringContaining('check the user, the password and the rights') as unknown;
  expect(findings).toContainEqual(expect.objectContaining({ result: 'wrong', change }));
});

it.each([
  ['has none, without a password', 'nopass', (server: RedisServer) => server.url],
  ['has one in the URL, with that', '>secret', (server: RedisServer) => server.url.replace('//', '//:secret@')],
])('list is a user that %s when the variable of the password is set to nothing', async (_, password, urlOf) => {
  await using server = await RedisServer.start();
  await server.ask('ACL', 'SETUSER', 'shop', 'on', password, '~*', '&*', '+@all');
  await server.ask('ACL', 'SETUSER', 'default', 'off');
  const env = { REDIS_USERNAME: 'shop', REDIS_PASSWORD: '', REDIS_URL: urlOf(server) };
  vi.stubEnv('REDIS_URL', env.REDIS_URL);
  onTestFinished(() => void vi.unstubAllEnvs());
  const io = commandIo({ env });
  const code = await runCommand(['list', '--backend', 'redis', '--timeout', '60s'], io);
  expect([code, io.written().complained]).toEqual([0, '']);
});

it('doctor passes on what the backend warns of', async () => {
  await using server = await RedisServer.start();
  const proxy = await AnsweringProxy.open(server.port);
  onTestFinished(() => proxy.close());
  const info = await server.ask('INFO');
  proxy.answer('INFO', info.replace('connected_slaves:0', 'connected_slaves:1'));
  const { code, findings } = await doctorOn(server, { url: proxy.url });
  expect(code).toBe(1);
  expect(findings).toContainEqual({
    check: 'server',
    result: 'wrong',
    found: 'the backend warns',
    change: expect.stringContaining('min-replicas-to-write is not set') as unknown,
  });
});
