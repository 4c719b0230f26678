import { randomUUID } from 'node:crypto';
import { expect, it } from 'vitest';
import { runCommand } from '../../lib/command/run-command.js';
import { EtcdServer } from '../../lib/testing/index.js';
import { commandIo } from '../unit/command/command-io.js';
import { clientsOf, hold } from './support/clients.js';

it('commands show the locks on an etcd server, and what it warns of', async () => {
  await using server = await EtcdServer.start();
  const basePath = `locks/${randomUUID()}`;
  await hold(clientsOf({ basePath }).open(server.host), 'orders/42', { label: 'Orders.place' });
  const run = async (...args: string[]) => {
    const io = commandIo();
    const common = ['--backend', 'etcd', '--connect', server.host, '--base-path', basePath, '--within', '30s'];
    return { code: await runCommand([...args, ...common], io), ...io.written() };
  };
  expect(await run('list')).toMatchObject({
    code: 0,
    said: expect.stringMatching(/^lock +orders\/42 +Orders\.place \(/m),
  });
  const { code, said } = await run('doctor', '--json');
  const findings = JSON.parse(said) as { check: string; result: string; change?: string }[];
  expect(findings).toContainEqual(expect.objectContaining({ check: 'rights', result: 'ok' }));
  expect(findings).toContainEqual(expect.objectContaining({ check: 'clock', result: 'unknown' }));
  // Debian's etcd is older than 3.4.31, and other versions are sound.
  const wrong = findings.filter(({ result }) => result === 'wrong');
  expect(code).toBe(wrong.length > 0 ? 1 : 0);
  expect(wrong.every(({ change = '' }) => /upgrade to 3\./.test(change))).toBe(true);
});
