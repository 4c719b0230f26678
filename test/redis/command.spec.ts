import { randomUUID } from 'node:crypto';
import { expect, it } from 'vitest';
import { runCommand } from '../../lib/command/run-command.js';
import { RedisServer } from '../../lib/testing/index.js';
import { commandIo } from '../unit/command/command-io.js';
import { clientsOf, hold } from './support/clients.js';

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

it('doctor says what to change on a server that removes keys when its memory is full', async () => {
  await using server = await RedisServer.start({
    settings: { maxmemory: '50mb', 'maxmemory-policy': 'allkeys-lru' },
  });
  const io = commandIo();
  expect(await runCommand(['doctor', '--backend', 'redis', '--connect', server.url], io)).toBe(1);
  expect(io.written().said).toContain('set maxmemory-policy to noeviction');
});
