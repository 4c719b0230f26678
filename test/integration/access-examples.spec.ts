import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { describe, expect, it, onTestFinished } from 'vitest';
import { findZooKeeperDistribution } from '../../lib/testing/zookeeper-distribution.js';
import { ZooKeeperServer } from '../../lib/testing/index.js';
import { zookeeper } from '../../lib/zookeeper/zookeeper.backend.js';
import {
  altered,
  blockAfter,
  certificatesOf,
  examplesOf,
  lockWith,
  PAGE,
  refused,
  settingsOf,
} from '../support/access-page.js';
import { unusedPort } from '../support/unused-port.js';

const LIMIT_MS = 180_000;

/** Runs the lines of a here document by ZooKeeper's own command. */
async function zkCli(block: string, connectString: string): Promise<void> {
  const [, lines] = /^zkCli\.sh -server zk1:2181 <<'END'\n([^]*)^END$/m.exec(block) ?? [];
  if (lines === undefined) throw new Error('the block is not one of zkCli.sh');
  const { argv } = findZooKeeperDistribution().command({ dir: '/nowhere', port: 0, systemProperties: {} });
  const [java, ...args] = argv.slice(0, -2);
  await new Promise<void>((resolve, reject) => {
    const all = [...args, 'org.apache.zookeeper.ZooKeeperMain', '-server', connectString];
    const child = execFile(java ?? '', all, (error) => (error ? reject(error) : resolve()));
    child.stdin?.end(lines);
  });
}

async function serverOf(page: string, folder: string) {
  const secureClientPort = await unusedPort();
  const shown = settingsOf(blockAfter(page, 'ZooKeeper with certificates'), folder);
  expect(shown['secureClientPort']).toBe('2281');
  const settings = { ...shown, secureClientPort, secureClientPortAddress: '127.0.0.1' };
  const server = await ZooKeeperServer.start({ settings });
  onTestFinished(() => server.stop());
  return { plain: server.connectString, secure: `127.0.0.1:${secureClientPort}` };
}

async function checkPasswords(page: string, server: string): Promise<void> {
  await zkCli(blockAfter(page, 'ZooKeeper with passwords'), server);
  const { onZooKeeperByPassword } = await examplesOf(page);
  const connectString = `${server}/shop`;
  await lockWith(onZooKeeperByPassword(connectString, 'secret'));
  await refused(onZooKeeperByPassword(connectString, 'guess'), 'LOCK_CONFIGURATION');
  await refused(zookeeper({ connectString, basePath: '/beside' }), 'LOCK_CONFIGURATION');
}

async function checkCertificates(page: string, folder: string, servers: { plain: string; secure: string }) {
  const { onZooKeeperByCertificate } = await examplesOf(page);
  await lockWith(onZooKeeperByCertificate(`${servers.secure}/own`, folder));
  await refused(zookeeper({ connectString: `${servers.plain}/own`, basePath: '/beside' }), 'LOCK_CONFIGURATION');
  const anonymous = { ca: readFileSync(`${folder}/ca.pem`), servername: 'server.internal' };
  const connectString = `${servers.secure}/other`;
  await refused(zookeeper({ connectString, tls: anonymous, connectTimeoutMs: 2_000 }), 'LOCK_UNAVAILABLE');
}

describe('access to ZooKeeper as docs/operations.md shows it', { timeout: LIMIT_MS }, () => {
  it('lets the service lock, and nobody else', async () => {
    const folder = await certificatesOf(PAGE);
    const servers = await serverOf(PAGE, folder);
    await expect(checkPasswords(PAGE, servers.plain)).resolves.toBeUndefined();
    await expect(checkCertificates(PAGE, folder, servers)).resolves.toBeUndefined();
  });

  it('is found out when the page is wrong about passwords', async () => {
    await using server = await ZooKeeperServer.start();
    const open = altered('setAcl /shop auth::cdrwa', 'setAcl /shop world:anyone:cdrwa');
    await expect(checkPasswords(open, server.connectString)).rejects.toThrow(/resolved/);
    const user = altered('shop:${password}', 'other:${password}');
    await expect(checkPasswords(user, server.connectString)).rejects.toThrow('other code');
  });

  it('is found out when the page is wrong about certificates', async () => {
    const page = altered('ssl.clientAuth=need', 'ssl.clientAuth=none');
    const folder = await certificatesOf(page);
    await expect(checkCertificates(page, folder, await serverOf(page, folder))).rejects.toThrow('noAuth at /own');
  });
});
