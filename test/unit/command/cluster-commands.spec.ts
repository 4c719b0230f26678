import { hostname } from 'node:os';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runCommand } from '../../../lib/command/run-command.js';
import { connectionOf } from '../../../lib/service/lock.service.js';
import { EmbeddedZooKeeper } from '../../../lib/testing/index.js';
import { eventually } from '../../support/eventually.js';
import { openService } from '../../support/services.js';
import { unusedPort } from '../../support/unused-port.js';
import { commandIo, stable } from './command-io.js';

let server: EmbeddedZooKeeper;

beforeAll(async () => {
  server = await EmbeddedZooKeeper.start();
});

afterAll(() => server.stop());

const NOT_WAITING = { wait: false, signal: new AbortController().signal } as const;

/** A cluster with two holders, a waiting contender, a leader, a queue and a job. */
async function busyCluster() {
  const basePath = `/commands-${Math.random().toString(36).slice(2)}`;
  const locks = await openService({ connectString: server.connectString, basePath, service: 'shop' });
  const lease = await locks.acquire('orders/42', { label: 'Orders.place' });
  const waiting = locks.acquire('orders/42', { label: 'Orders.cancel' });
  waiting.catch(() => {});
  await eventually(async () => (await locks.contenders('orders/42')).length === 2, 'a contender waits');
  await locks.semaphore('pdf', { permits: 4 }).acquire({ permits: 2, label: 'Pdf\u001b[2J.render\u202e' });
  const { backend, names } = connectionOf(locks);
  const key = names.keyOf({ kind: 'election', name: 'poller' });
  await backend.elections!.campaign({ key, mode: 'exclusive', line: 'fifo', label: 'poller-1', ...NOT_WAITING });
  const mails = names.keyOf({ kind: 'queue', name: 'mails' });
  await backend.coordination!.queues.put({
    key: mails,
    payloads: [Buffer.from('a'), Buffer.from('b')],
    ...NOT_WAITING,
  });
  const options = ['--connect', server.connectString, '--base-path', basePath, '--within', '30s'];
  const run = async (...args: string[]) => {
    const io = commandIo();
    return { code: await runCommand([...args, ...options], io), ...io.written() };
  };
  return { locks, lease, waiting, options, basePath, run };
}

describe('commands on a cluster', () => {
  it.each(['list', 'list orders/', 'who orders/42', 'who free', 'leaders', 'queues', 'list none'])(
    '%s',
    async (line) => {
      const { run } = await busyCluster();
      const name = line.replaceAll(/\W/g, '-');
      for (const [json, ending] of [
        [[], 'txt'],
        [['--json'], 'json.txt'],
      ] as const) {
        const { code, said, complained } = await run(...line.split(' '), ...json);
        expect([code, complained]).toEqual([0, '']);
        if (ending !== 'txt') JSON.parse(said);
        await expect(stable(said)).toMatchFileSnapshot(`golden/${name}.${ending}`);
      }
    },
  );

  it('show the runs of the jobs of a service', async () => {
    const { locks, run } = await busyCluster();
    const { records } = connectionOf(locks).backend;
    const runner = { host: hostname(), pid: process.pid };
    const times = { tick: '2026-01-01T12:00:00.000Z', startedAt: '2026-01-01T12:00:00.005Z', durationMs: 1_500 };
    const marker = { name: 'report', key: 'cron/report', state: 'done', runner, runId: 'r', attempt: 1, ...times };
    await records.write([{ name: 'cron/shop/cron%2Freport', value: JSON.stringify(marker) }]);
    const { code, said } = await run('cron', '--service', 'shop');
    expect(code).toBe(0);
    await expect(stable(said)).toMatchFileSnapshot('golden/cron.txt');
    const inJson = await run('cron', '--service', 'shop', '--json');
    expect(JSON.parse(inJson.said)).toMatchObject([{ key: 'cron/report', isRunning: false, state: 'done' }]);
    expect(await run('cron')).toMatchObject({ code: 1, complained: expect.stringContaining('cron needs --service') });
  });

  it('never write a character that a terminal obeys', async () => {
    const { run } = await busyCluster();
    for (const json of [[], ['--json']]) {
      const { said } = await run('list', ...json);
      expect(said).toContain('\\u001b[2J');
      expect(said).toContain('\\u202e');
      expect(said).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202a-\u202e]/);
    }
    expect((await run('who', 'a\u009bb')).complained).not.toMatch(/[\u0080-\u009f]/);
  });

  it('say when a bound was reached', async () => {
    const { run } = await busyCluster();
    const { code, complained } = await run('list', '--most', '1');
    expect([code, complained]).toEqual([0, 'there may be more: name a prefix, or raise --most and --within\n']);
  });
});

describe('revoke', () => {
  it('takes the key away after its grace period, and says from how many', async () => {
    const { run, waiting, lease } = await busyCluster();
    const { code, said } = await run('revoke', 'orders/42', '--grace', '50ms', '--yes');
    expect([code, said]).toEqual([0, expect.stringContaining('revoked: 1 holder\n')]);
    expect((await waiting).key).toBe('orders/42');
    await eventually(async () => lease.state === 'lost', 'the lease is lost');
  });

  it('asks for the key first, and does nothing without the right answer', async () => {
    const { lease, options } = await busyCluster();
    for (const [answer, expected] of [
      ['orders/43', 'not revoked: that is not the key\n'],
      [undefined, 'nobody is there to confirm: say --yes\n'],
    ] as const) {
      const io = commandIo({ answer });
      expect(await runCommand(['revoke', 'orders/42', ...options], io)).toBe(1);
      const { said, complained } = io.written();
      expect(said + complained).toContain(expected);
      expect(lease.state).toBe('held');
    }
    const io = commandIo({ answer: 'orders/42' });
    expect(await runCommand(['revoke', 'orders/42', '--grace', '10ms', ...options], io)).toBe(0);
    expect(io.written().asked).toContain('Type the key to go on');
  });
});

describe('watch', () => {
  it('shows the line again whenever it has changed, until it is ended', async () => {
    const { lease, waiting, options } = await busyCluster();
    const ending = new AbortController();
    const io = commandIo({ signal: ending.signal });
    const watching = runCommand(['watch', 'orders/42', '--json', '--every', '10ms', ...options], io);
    const lines = () => io.written().said.split('\n').filter(Boolean);
    await eventually(async () => lines().length === 1, 'the first line');
    await lease.release();
    await waiting;
    await eventually(
      async () => lines().at(-1)?.includes('"held"') && !lines().at(-1)?.includes('"waiting"'),
      'the change',
    );
    ending.abort();
    expect(await watching).toBe(0);
    expect(lines().map((line) => (JSON.parse(line) as unknown[]).length)).toEqual(expect.arrayContaining([2, 1]));
  });
});

describe('a command line', () => {
  it.each([
    ['list', '--password', 'hunter2'],
    ['list', '--password=hunter2'],
    ['doctor', '--auth', 'digest:hunter2'],
    ['list', '--backend', 'redis', '--connect', 'redis://me:hunter2@localhost'],
    ['list', '--backend', 'redis', '--connect=redis://:hunter2@localhost'],
    ['list', '-p', 'hunter2'],
  ])('takes no credentials: %s %s', async (...args) => {
    const io = commandIo();
    expect(await runCommand(args, io)).toBe(1);
    expect(io.written().complained).toMatch(/^credentials are not taken as arguments: .* ZOOKEEPER_PASSWORD/);
    expect(io.written().complained).not.toContain('hunter2');
  });

  it('takes them from the environment', async () => {
    const { basePath, options } = await busyCluster();
    const env = { ZOOKEEPER_USER: 'me', ZOOKEEPER_PASSWORD: 'hunter2' };
    const io = commandIo({ env });
    expect(await runCommand(['doctor', ...options, '--base-path', `${basePath}-private`], io)).toBe(0);
    // What it has made is its own.
    const other = commandIo();
    expect(await runCommand(['doctor', ...options, '--base-path', `${basePath}-private`], other)).toBe(1);
    expect(other.written().said).toContain('check the auth and acl options');
  });

  it.each<[string, string[]]>([
    ['--backend must be zookeeper, redis or etcd, got "consul"', ['list', '--backend', 'consul']],
    ['--grace must be a duration such as 500ms, 5s or 2min, got "soon"', ['revoke', 'k', '--grace', 'soon']],
    ['--most must be a whole number from 1 to 10000', ['list', '--most', '0']],
    ["Unknown option '--colour'", ['list', '--colour']],
    ['connectString: ', ['list', '--connect', 'host:port:7']],
  ])('is refused: %s', async (message, args) => {
    const io = commandIo();
    expect(await runCommand(args, io)).toBe(1);
    expect(io.written().complained).toContain(message);
  });

  it('ends with 2 when no server answers', async () => {
    const port = await unusedPort();
    const io = commandIo();
    const args = ['list', '--connect', `127.0.0.1:${port}`, '--timeout', '50ms', '--json'];
    expect(await runCommand(args, io)).toBe(2);
    expect(JSON.parse(io.written().said)).toMatchObject({ isUnavailable: true });
  });

  it('asks for one key', async () => {
    const { run } = await busyCluster();
    expect(await run('who')).toMatchObject({ code: 1, complained: 'name one key, such as orders/42\n' });
  });
});

describe('doctor', () => {
  it('finds nothing on a sound server', async () => {
    const { run } = await busyCluster();
    const { code, said } = await run('doctor');
    expect(code).toBe(0);
    await expect(stable(said).replaceAll(/127\.0\.0\.1:\d+/g, '<server>')).toMatchFileSnapshot('golden/doctor.txt');
  });

  it('finds a session timeout that the servers do not grant', async () => {
    const { run } = await busyCluster();
    const { code, said } = await run('doctor', '--session-timeout', '5min', '--json');
    expect(code).toBe(1);
    expect(JSON.parse(said)).toContainEqual({
      check: 'session timeout',
      result: 'wrong',
      found: '40000 ms granted, 300000 ms asked for',
      change: expect.stringContaining('sessionTimeoutMs'),
    });
  });

  it('finds a chroot that does not exist, before anything creates it', async () => {
    const { options } = await busyCluster();
    const io = commandIo();
    const connect = `${server.connectString}/nowhere`;
    expect(await runCommand(['doctor', ...options, '--connect', connect], io)).toBe(1);
    expect(io.written().said).toContain('/nowhere does not exist');
    expect(io.written().said).toContain('create the znode /nowhere');
  });
});
