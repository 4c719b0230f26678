import { describe, expect, inject, it } from 'vitest';
import { runCommand } from '../../lib/command/run-command.js';
import { accepts, versionOf } from '../../lib/command/zookeeper-servers.js';
import { ZooKeeperServer } from '../../lib/testing/index.js';
import { freshBasePath } from '../support/base-path.js';
import { eventually } from '../support/eventually.js';
import { openService } from '../support/services.js';
import { secureServer } from '../support/secure-zookeeper.js';
import { commandIo } from '../unit/command/command-io.js';
import type { Settings } from '../unit/command/command-io.js';

const MOST = 1_048_575;
const LIMIT_MS = 60_000;

/** Runs doctor, and returns its findings with this result. */
async function findings(result: string, connectString: string, args: readonly string[] = [], settings: Settings = {}) {
  const io = commandIo(settings);
  const common = ['--connect', connectString, '--base-path', freshBasePath()];
  await runCommand(['doctor', '--json', '--timeout', '60s', ...common, ...args], io);
  return (JSON.parse(io.written().said) as { result: string }[]).filter((finding) => finding.result === result);
}

describe('doctor on a real server', () => {
  it('finds nothing wrong and nothing unknown on a sound one', async () => {
    for (const result of ['wrong', 'unknown']) expect(await findings(result, inject('zookeeper'))).toEqual([]);
  });

  it('finds what is wrong with one that has a small jute.maxbuffer, and short sessions', async () => {
    await using server = await ZooKeeperServer.start({
      systemProperties: { 'jute.maxbuffer': '100000' },
      settings: { maxSessionTimeout: 4_000 },
    });
    const { connectString } = server;
    expect(await findings('wrong', connectString)).toMatchObject([
      { check: 'jute.maxbuffer', found: `${connectString} refuses requests of ${MOST} bytes, and accepts 65535` },
      { check: 'session timeout', found: '4000 ms granted, 10000 ms asked for' },
    ]);
    const sessions = async () => (await server.ask('cons')).match(/queued/g)?.length;
    await eventually(async () => (await sessions()) === 1, 'only the connection that asks is left');
  });

  it('finds the limit to the byte', async () => {
    await using server = await ZooKeeperServer.start({ systemProperties: { 'jute.maxbuffer': String(MOST) } });
    const address = { host: '127.0.0.1', port: server.port };
    expect(await accepts(address, MOST, LIMIT_MS)).toBe(true);
    expect(await accepts(address, MOST + 1, LIMIT_MS)).toBe(false);
  });

  it('takes a line in zoo.cfg for what it is: without effect', async () => {
    await using server = await ZooKeeperServer.start({ settings: { 'jute.maxbuffer': 100_000 } });
    expect(await accepts({ host: '127.0.0.1', port: server.port }, MOST, LIMIT_MS)).toBe(true);
  });

  it('finds a clock that is off', async () => {
    expect(await findings('wrong', inject('zookeeper'), [], { aheadMs: 60_000 })).toMatchObject([{ check: 'clock' }]);
  });

  it('finds znodes that the user may not change', async () => {
    const basePath = freshBasePath();
    const connectString = inject('zookeeper');
    const shop = await openService({ connectString, basePath, auth: { scheme: 'digest', credentials: 'shop:secret' } });
    await shop.acquire('till');
    const found = await findings('wrong', connectString, ['--base-path', basePath]);
    expect(found).toMatchObject([{ check: 'rights', change: expect.stringContaining('auth and acl') as unknown }]);
  });

  it('asks over TLS as well', async () => {
    const { port, trusted } = await secureServer({ 'jute.maxbuffer': '100000' });
    const server = { host: '127.0.0.1', port, tls: trusted };
    expect(await versionOf(server, LIMIT_MS)).toMatch(/^3\./);
    expect([await accepts(server, 100_000, LIMIT_MS), await accepts(server, 100_001, LIMIT_MS)]).toEqual([true, false]);
  });
});
