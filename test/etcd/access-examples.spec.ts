import { readFileSync } from 'node:fs';
import { describe, expect, it, onTestFinished } from 'vitest';
import { etcd } from '../../lib/etcd/index.js';
import type { EtcdOptions } from '../../lib/etcd/index.js';
import { EtcdServer } from '../../lib/testing/index.js';
import { altered, blockAfter, certificatesOf, examplesOf, lockWith, PAGE, refused } from '../support/access-page.js';
import { unusedPort } from '../support/unused-port.js';

const inBase64 = (text: string) => Buffer.from(text).toString('base64');

/** Starts a server with the flags of the page. A second port without TLS is for the commands of the page. */
async function serverOf(page: string, folder: string) {
  const [program, ...words] = blockAfter(page, 'etcd.')
    .replaceAll('/etc/locks', folder)
    .split(/[\s\\]+/)
    .filter(Boolean);
  expect(program).toBe('etcd');
  const shown = Object.fromEntries(words.map((word) => /^--([\w-]+)=(.*)$/.exec(word)?.slice(1) as [string, string]));
  const { 'listen-client-urls': listen, 'advertise-client-urls': advertised, ...flags } = shown;
  for (const url of [listen, advertised]) expect(url).toMatch(/^https:/);
  const [port, plainPort] = [await unusedPort(), await unusedPort()];
  const urls = { 'listen-client-urls': `https://127.0.0.1:${port},http://127.0.0.1:${plainPort}` };
  const server = await EtcdServer.start({ port, flags: { ...flags, ...urls } });
  onTestFinished(() => server.stop());
  return { host: server.host, plain: `http://127.0.0.1:${plainPort}` };
}

/** Debian has `etcdctl` in a package of its own. These requests are what it sends. */
const COMMANDS: readonly (readonly [RegExp, (...words: string[]) => readonly [path: string, request: object]])[] = [
  [/^etcdctl role add (\w+)$/, (name) => ['auth/role/add', { name }]],
  [
    /^etcdctl role grant-permission (\w+) readwrite --prefix=true (\S+)\/$/,
    (name, prefix) => {
      const perm = { permType: 'READWRITE', key: inBase64(`${prefix}/`), range_end: inBase64(`${prefix}0`) };
      return ['auth/role/grant', { name, perm }];
    },
  ],
  [/^etcdctl user add (\w+):(\S+)$/, (name, password) => ['auth/user/add', { name, password }]],
  [/^etcdctl user grant-role (\w+) (\w+)$/, (user, role) => ['auth/user/grant', { user, role }]],
  [/^etcdctl auth enable$/, () => ['auth/enable', {}]],
];

async function runCommands(page: string, url: string): Promise<void> {
  for (const line of blockAfter(page, 'etcd.', 1).trim().split('\n')) {
    const [words, command] =
      COMMANDS.map(([pattern, of]) => [pattern.exec(line), of] as const).find(([found]) => found) ?? [];
    if (!words || !command) throw new Error(`no such command: ${line}`);
    const [path, request] = command(...words.slice(1));
    const response = await fetch(`${url}/v3/${path}`, { method: 'POST', body: JSON.stringify(request) });
    if (!response.ok) throw new Error(`${line}: ${await response.text()}`);
  }
}

async function check(page: string): Promise<void> {
  const folder = await certificatesOf(page);
  const { host, plain } = await serverOf(page, folder);
  await runCommands(page, plain);
  const { onEtcd } = await examplesOf(page);
  await lockWith(onEtcd(host, 'secret', folder));
  const file = (name: string) => readFileSync(`${folder}/${name}`);
  const trusted = { ca: file('ca.pem'), servername: 'server.internal' };
  const tls = { ...trusted, cert: file('shop.pem'), key: file('shop.key') };
  const user = { username: 'shop', password: 'secret' };
  const settings = { hosts: host, tls, connectTimeoutMs: 15_000 } satisfies EtcdOptions;
  await refused(etcd({ ...settings, ...user, basePath: 'others' }), 'LOCK_CONFIGURATION');
  await refused(etcd({ ...settings, ...user, password: 'guess' }), 'LOCK_CONFIGURATION');
  // The name in the certificate is that of a user.
  await lockWith(etcd(settings));
  await refused(etcd({ ...settings, basePath: 'others' }), 'LOCK_CONFIGURATION');
  await refused(etcd({ ...settings, ...user, connectTimeoutMs: 2_000, tls: trusted }), 'LOCK_UNAVAILABLE');
}

describe('access to etcd as docs/operations.md shows it', { timeout: 120_000 }, () => {
  it('lets the service lock, and nobody else', async () => {
    await expect(check(PAGE)).resolves.toBeUndefined();
  });

  it.each([
    ['the keys', 'readwrite --prefix=true locks/', 'readwrite --prefix=true other/', /check the user/],
    [
      'too many keys',
      'readwrite --prefix=true locks/',
      'readwrite --prefix=true others/\netcdctl role grant-permission locks readwrite --prefix=true locks/',
      /resolved/,
    ],
    ['the password', 'user add shop:secret', 'user add shop:other', /check the user/],
    ['the role', 'etcdctl user grant-role shop locks\n', '', /check the user/],
    ['authentication', 'etcdctl auth enable', 'etcdctl role add rest', /authentication is not enabled/],
    ['certificates of clients', '--client-cert-auth=true', '--client-cert-auth=false', /check the user/],
    ['a command', 'etcdctl role add locks', 'etcdctl roles add locks', /no such command/],
  ])('is found out when the page is wrong about %s', async (_, from, to, found) => {
    await expect(check(altered(from, to))).rejects.toThrow(found);
  });
});
