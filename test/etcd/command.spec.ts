import { randomUUID } from 'node:crypto';
import { expect, it, onTestFinished, vi } from 'vitest';
import { clockDifferences } from '../../lib/command/server-clock.js';
import { EtcdLink } from '../../lib/etcd/client/etcd-link.js';
import { runCommand } from '../../lib/command/run-command.js';
import { etcd } from '../../lib/etcd/index.js';
import { EtcdServer } from '../../lib/testing/index.js';
import { commandIo } from '../unit/command/command-io.js';
import type { Settings } from '../unit/command/command-io.js';
import { unusedPort } from '../support/unused-port.js';
import { enableAuth } from './support/auth.js';
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
  expect(findings).toContainEqual(expect.objectContaining({ check: 'clock', result: 'ok' }));
  // Debian's etcd is older than 3.4.31, and other versions are sound.
  const wrong = findings.filter(({ result }) => result === 'wrong');
  expect(code).toBe(wrong.length > 0 ? 1 : 0);
  expect(wrong.every(({ change = '' }) => /upgrade to 3\./.test(change))).toBe(true);
});

/** Runs doctor on a server, and returns what it finds to be wrong, apart from the version of Debian's etcd. */
async function wrongOn(host: string, args: readonly string[] = [], settings: Settings = {}) {
  const io = commandIo(settings);
  await runCommand(['doctor', '--backend', 'etcd', '--timeout', '60s', '--connect', host, '--json', ...args], io);
  const findings = JSON.parse(io.written().said) as { check: string; result: string; found: string; change?: string }[];
  return findings.filter(({ result, change = '' }) => result === 'wrong' && !/upgrade to 3\./.test(change));
}

it.each([
  [60_000, 'behind'],
  [-60_000, 'ahead of'],
])('doctor finds a clock that is %i ms ahead', async (aheadMs, side) => {
  await using server = await EtcdServer.start();
  expect(await wrongOn(server.host)).toEqual([]);
  expect(await wrongOn(server.host, [], { aheadMs })).toEqual([
    {
      check: 'clock',
      result: 'wrong',
      found: expect.stringMatching(
        new RegExp(`^${server.host}: .* \\(\\d{5} ms\\) ${side} the clock of this machine`),
      ) as unknown,
      change: expect.stringContaining('NTP') as unknown,
    },
  ]);
});

it('the clock of a server that answers no HTTP is not known', async () => {
  const host = `127.0.0.1:${await unusedPort()}`;
  const backend = etcd({ hosts: host }).create();
  onTestFinished(() => backend.close());
  expect(await clockDifferences(backend, () => Date.now(), 5_000)).toEqual([{ server: host, offMs: undefined }]);
});

it('doctor finds leases that are longer than asked for', async () => {
  await using server = await EtcdServer.start({ flags: { 'election-timeout': 4_000 } });
  expect(await wrongOn(server.host, ['--session-timeout', '2s'])).toEqual([
    {
      check: 'session timeout',
      result: 'wrong',
      found: '6000 ms granted, 2000 ms asked for',
      change: expect.stringContaining('--election-timeout') as unknown,
    },
  ]);
});

it('doctor finds a user that may not write below the base path', async () => {
  await using server = await EtcdServer.start();
  await enableAuth(server.host);
  const settings = { env: { ETCD_USERNAME: 'shop', ETCD_PASSWORD: 'shop' } };
  expect(await wrongOn(server.host, ['--base-path', 'shop/locks'], settings)).toEqual([]);
  expect(await wrongOn(server.host, ['--base-path', 'other/locks'], settings)).toContainEqual(
    expect.objectContaining({ change: expect.stringContaining('the user') as unknown }),
  );
});

it('doctor finds a history that is never compacted', async () => {
  await using server = await EtcdServer.start();
  // A server needs minutes to get there. So its answers are those of an old one.
  const { open, range } = EtcdLink.prototype;
  onTestFinished(() => void vi.restoreAllMocks());
  vi.spyOn(EtcdLink.prototype, 'open').mockImplementation(async function (this: EtcdLink, limitMs) {
    return { ...(await open.call(this, limitMs)), revision: 250_000 };
  });
  const asked: unknown[] = [];
  vi.spyOn(EtcdLink.prototype, 'range').mockImplementation(async function (this: EtcdLink, { revision, ...request }) {
    if (revision !== undefined) asked.push(revision);
    return range.call(this, request);
  });
  expect(await wrongOn(server.host)).toMatchObject([
    { check: 'server', change: expect.stringContaining('--auto-compaction-mode=periodic') as unknown },
  ]);
  expect(asked).toEqual([150_000]);
});
