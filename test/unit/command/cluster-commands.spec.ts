import { connect, createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { hostname } from 'node:os';
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { runCommand } from '../../../lib/command/run-command.js';
import { accepts } from '../../../lib/command/zookeeper-servers.js';
import { LockConfigurationError, LockUnavailableError } from '../../../lib/contract/errors.js';
import { connectionOf, LockService } from '../../../lib/service/lock.service.js';
import { ZooKeeperRecords } from '../../../lib/zookeeper/zookeeper-records.js';
import { EmbeddedZooKeeper } from '../../../lib/testing/index.js';
import { eventually } from '../../support/eventually.js';
import { openService } from '../../support/services.js';
import { unusedPort } from '../../support/unused-port.js';
import { contendersAt, openClient } from '../../support/znodes.js';
import { commandIo, stable } from './command-io.js';

// alone: one of the longest files.

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
  const options = ['--connect', server.connectString, '--base-path', basePath, '--within', '30s', '--timeout', '60s'];
  const run = async (...args: string[]) => {
    const io = commandIo();
    return { code: await runCommand([...args, ...options], io), ...io.written() };
  };
  return { locks, lease, waiting, options, basePath, run };
}

describe('commands on a cluster', () => {
  it.each([
    'list',
    'list orders/',
    'who orders/42',
    'who free',
    'leaders',
    'queues',
    'list none',
    'leaders none',
    'queues none',
  ])('%s', async (line) => {
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
  });

  it('name the base path when a key is free, also the default one, unless the key is absolute', async () => {
    for (const [key, expected] of [
      ['free', '"free" is free (base path /locks)\n'],
      ['/curator/till', '"/curator/till" is free\n'],
    ] as const) {
      const io = commandIo();
      expect(await runCommand(['who', key, '--connect', server.connectString, '--timeout', '60s'], io)).toBe(0);
      expect(io.written().said).toBe(expected);
      const ending = new AbortController();
      const watched = commandIo({ signal: ending.signal });
      const watching = runCommand(['watch', key, '--connect', server.connectString, '--timeout', '60s'], watched);
      await eventually(() => watched.written().said !== '', 'the first line');
      ending.abort();
      expect([await watching, watched.written().said]).toEqual([0, expected]);
    }
  });

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

  it('show the leases that were lost', async () => {
    const { run, basePath, locks, waiting } = await busyCluster();
    expect((await run('losses')).said).toBe(`no loss of a lease is recorded (base path ${basePath})\n`);
    const client = await openClient(server.connectString);
    const queue = connectionOf(locks).backend.identify('orders/42');
    const [held] = await contendersAt(client, queue);
    await client.delete(`${queue}/${held}`);
    await waiting;
    const recorded = async () => JSON.parse((await run('losses', '--json')).said) as unknown[];
    await expect.poll(recorded, { timeout: 30_000 }).toHaveLength(1);
    const { code, said, complained } = await run('losses');
    expect([code, complained]).toEqual([0, '']);
    await expect(stable(said)).toMatchFileSnapshot('golden/losses.txt');
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

  it.each(['list', 'leaders', 'queues'])('say when a bound was reached: %s', async (command) => {
    const { run } = await busyCluster();
    for (const json of [[], ['--json']]) {
      const { code, said, complained } = await run(command, '--most', '1', ...json);
      expect([code, complained]).toEqual([0, 'there may be more: name a prefix, or raise --most and --within\n']);
      if (json.length > 0) JSON.parse(said);
    }
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

  it('takes nothing from a holder that came in after it had found the key free, and names the base path', async () => {
    const { run, lease, basePath } = await busyCluster();
    const contenders = vi.spyOn(LockService.prototype, 'contenders');
    onTestFinished(() => contenders.mockRestore());
    for (const json of [[], ['--json']]) {
      contenders.mockResolvedValueOnce([]);
      const { code, said } = await run('revoke', 'orders/42', '--grace', '10ms', ...json);
      expect(code).toBe(0);
      if (json.length > 0) expect(JSON.parse(said)).toEqual({ key: 'orders/42', revoked: [] });
      else expect(said).toBe(`nobody holds "orders/42" (base path ${basePath}): nothing was revoked\n`);
      expect(lease.state).toBe('held');
    }
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
    // The user of the first run owns all that it has made.
    const other = commandIo();
    expect(await runCommand(['doctor', ...options, '--base-path', `${basePath}-private`], other)).toBe(1);
    expect(other.written().said).toContain('check the auth and acl options');
  });

  it.each([
    ['zookeeper', { ZOOKEEPER_PASSWORD: 'hunter2' }, 'ZOOKEEPER_PASSWORD is set, and ZOOKEEPER_USER is not: set both'],
    ['zookeeper', { ZOOKEEPER_USER: 'me' }, 'ZOOKEEPER_USER is set, and ZOOKEEPER_PASSWORD is not: set both'],
    ['zookeeper', { ZOOKEEPER_USER: '', ZOOKEEPER_PASSWORD: 'hunter2' }, 'ZOOKEEPER_USER is not: set both'],
    ['redis', { REDIS_USERNAME: 'me' }, 'REDIS_USERNAME is set, and REDIS_PASSWORD is not: set both'],
    [
      'redis --connect redis://127.0.0.1:1',
      { REDIS_USERNAME: 'me', REDIS_URL: 'redis://:hunter2@127.0.0.1:1' },
      'REDIS_USERNAME is set, and REDIS_PASSWORD is not: set both',
    ],
    ['etcd', { ETCD_PASSWORD: 'hunter2' }, 'ETCD_PASSWORD is set, and ETCD_USERNAME is not: set both'],
    ['etcd', { ETCD_USERNAME: 'me' }, 'ETCD_USERNAME is set, and ETCD_PASSWORD is not: set both'],
  ])('does not go on with half of the credentials of %s: %j', async (backend, env, message) => {
    const io = commandIo({ env });
    expect(await runCommand(['list', '--backend', ...backend.split(' '), '--timeout', '50ms'], io)).toBe(1);
    expect(io.written().complained).toContain(message);
    expect(io.written().complained).not.toContain('hunter2');
  });

  it.each([
    ['redis', { REDIS_PASSWORD: 'hunter2' }],
    ['redis', { REDIS_USERNAME: 'me', REDIS_URL: 'redis://:hunter2@127.0.0.1:1' }],
    ['redis', { ETCD_PASSWORD: 'hunter2', ZOOKEEPER_PASSWORD: 'hunter2' }],
    ['etcd', { ETCD_USERNAME: '', ETCD_PASSWORD: '' }],
  ])('takes whole credentials, and does not look at those of other backends: %s, %j', async (backend, env) => {
    for (const [name, value] of Object.entries(env)) vi.stubEnv(name, value);
    onTestFinished(() => void vi.unstubAllEnvs());
    const io = commandIo({ env });
    const address = `${backend === 'redis' ? 'redis://' : ''}127.0.0.1:${await unusedPort()}`;
    const connect = 'REDIS_URL' in env ? [] : ['--connect', address];
    expect(await runCommand(['list', '--backend', backend, '--timeout', '50ms', ...connect], io)).toBe(2);
  });

  it.each<[string, string[]]>([
    ['--backend must be zookeeper, redis or etcd, got "consul"', ['list', '--backend', 'consul']],
    ['--grace must be a duration such as 500ms, 5s or 2min, got "soon"', ['revoke', 'k', '--grace', 'soon']],
    ['--most must be a whole number from 1 to 10000', ['list', '--most', '0']],
    ["Unknown option '--colour'", ['list', '--colour']],
    ['connectString: ', ['list', '--connect', 'host:port:7']],
    ['give both --cert and --key, or neither', ['list', '--tls', '--cert', 'shop.pem']],
    ['--cert and --key need --tls', ['list', '--cert', 'shop.pem', '--key', 'shop.key']],
    ['--cert must be a file that can be read: ENOENT', ['list', '--tls', '--cert', '/no/shop.pem', '--key', '/no/key']],
  ])('is refused: %s', async (message, args) => {
    const io = commandIo();
    expect(await runCommand(args, io)).toBe(1);
    expect(io.written().complained).toContain(message);
  });

  it('is refused in one line, also where Node has several', async () => {
    const io = commandIo();
    expect(await runCommand(['list', '--backend', '--json'], io)).toBe(1);
    expect(io.written().complained).toMatch(/^Option '--backend\b.*\. Did you forget .*\n$/);
    expect(io.written().complained).not.toContain('\\u');
  });

  it('ends with 2 when no server answers', async () => {
    const port = await unusedPort();
    const io = commandIo();
    const args = ['list', '--connect', `127.0.0.1:${port}`, '--timeout', '50ms', '--json'];
    expect(await runCommand(args, io)).toBe(2);
    expect(JSON.parse(io.written().said)).toMatchObject({ isUnavailable: true });
  });

  it.each<[string, string]>([
    ['who', 'name one key, such as orders/42'],
    ['watch', 'name one key, such as orders/42'],
    ['revoke a b', 'name one key, such as orders/42'],
    ['list a b c', 'list takes one prefix only, got a b c'],
    ['leaders a b', 'leaders takes one prefix only, got a b'],
    ['queues a b', 'queues takes one prefix only, got a b'],
    ['cron a --service shop', 'cron takes options only, got a'],
    ['cron', 'cron needs --service: jobs belong to the service of their module'],
    ['doctor a', 'doctor takes options only, got a'],
  ])('is refused without a server: %s', async (line, message) => {
    const io = commandIo();
    const connect = `127.0.0.1:${await unusedPort()}`;
    expect(await runCommand([...line.split(' '), '--connect', connect, '--timeout', '50ms'], io)).toBe(1);
    expect(io.written().complained).toBe(`${message}\n`);
  });
});

describe('doctor', () => {
  it('finds nothing on a sound server', async () => {
    const { run } = await busyCluster();
    const { code, said } = await run('doctor');
    expect(code).toBe(0);
    await expect(stable(said).replaceAll(/127\.0\.0\.1:\d+/g, '<server>')).toMatchFileSnapshot('golden/doctor.txt');
  });

  it('leaves Ctrl-C to the process while it waits for nothing', async () => {
    const { options } = await busyCluster();
    const io = commandIo();
    const read = vi.fn(() => io.signal);
    expect(await runCommand(['doctor', ...options], Object.defineProperty({ ...io }, 'signal', { get: read }))).toBe(0);
    expect(read).not.toHaveBeenCalled();
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

  it.each([
    [90_000, '1 min (90000 ms) behind'],
    [-3_700_000, '1 h (3700000 ms) ahead of'],
  ])('finds a clock that is %i ms ahead, and says by how much', async (aheadMs, expected) => {
    const { options } = await busyCluster();
    const io = commandIo({ aheadMs });
    expect(await runCommand(['doctor', '--json', ...options], io)).toBe(1);
    const [found, ...others] = findingsOf(io.written().said, 'wrong');
    expect(others).toEqual([]);
    expect(found).toMatchObject({ check: 'clock', change: expect.stringContaining('NTP') as unknown });
    // The request itself takes a moment.
    const [size = 0] = /\d+(?= ms)/.exec(found?.found ?? '')?.map(Number) ?? [];
    expect(Math.abs(size - Math.abs(aheadMs))).toBeLessThan(30_000);
    expect(found?.found.replace(String(size), String(Math.abs(aheadMs)))).toContain(expected);
  });

  it('does not mind a clock that is less than a second off', async () => {
    const { options } = await busyCluster();
    const io = commandIo({ aheadMs: 700 });
    expect(await runCommand(['doctor', ...options], io)).toBe(0);
  });

  it('finds a server that takes smaller requests only, and leaves nothing on it', async () => {
    await using small = await EmbeddedZooKeeper.start({ maxBufferBytes: 400_000 });
    const io = commandIo();
    expect(await runCommand(['doctor', '--json', '--timeout', '60s', '--connect', small.connectString], io)).toBe(1);
    expect(findingsOf(io.written().said, 'wrong')).toEqual([
      {
        check: 'jute.maxbuffer',
        result: 'wrong',
        found: `${small.connectString} refuses requests of 1048575 bytes, and accepts 262143`,
        change: expect.stringContaining('-Djute.maxbuffer=1048575') as unknown,
      },
    ]);
    const leftBehind = async () => (await small.ask('cons')).trim() + (await small.ask('dump'));
    await eventually(async () => !/queued|0x\d/.test(await leftBehind()), 'no connection and no session is left');
  });

  it.each(['Zookeeper version: 3.4.14-4c25d48, built on 03/06/2019\n', ''])(
    'finds a server whose version is too old, and says when it is not told: %j',
    async (answer) => {
      const front = await wordFront(server.port, answer);
      const io = commandIo();
      expect(await runCommand(['doctor', '--json', '--timeout', '60s', '--connect', front], io)).toBe(
        answer === '' ? 0 : 1,
      );
      expect(findingsOf(io.written().said, answer === '' ? 'unknown' : 'wrong')).toMatchObject([
        {
          check: 'version',
          found: answer === '' ? `${front} does not answer "srvr" (4lw.commands.whitelist)` : `${front} has 3.4.14`,
        },
      ]);
    },
  );

  it('does not guess the limit of a server that refuses everything, or nothing', async () => {
    for (const behaviour of ['closes', 'keeps'] as const) {
      const listener = createServer((socket) => {
        socket.on('error', () => {});
        socket.resume();
        if (behaviour === 'closes') socket.destroy();
        onTestFinished(() => void socket.destroy());
      });
      await new Promise<void>((resolve) => listener.listen(0, '127.0.0.1', resolve));
      onTestFinished(() => void listener.close());
      const { port } = listener.address() as AddressInfo;
      expect(await accepts({ host: '127.0.0.1', port }, 1_000, 300)).toBeUndefined();
    }
    expect(await accepts({ host: '127.0.0.1', port: await unusedPort() }, 1_000, 300)).toBeUndefined();
  });

  it.each([
    ['a server that is gone', new LockUnavailableError('no server answers', { key: 'k' }), 2, 'no server answers\n'],
    ['a mistake of ours', new TypeError('not a function'), 1, 'not a function\n'],
  ])('does not take %s for missing rights', async (_, error, code, complained) => {
    const { run } = await busyCluster();
    const acquire = vi.spyOn(LockService.prototype, 'acquire').mockRejectedValueOnce(error);
    onTestFinished(() => acquire.mockRestore());
    expect(await run('doctor')).toMatchObject({ code, said: '', complained });
  });

  it.each([
    [
      new LockConfigurationError('no rights'),
      0,
      [{ check: 'clock', result: 'unknown', found: 'nothing can be written' }],
    ],
    [new LockUnavailableError('no server answers', { key: 'k' }), 2, []],
    [new TypeError('not a function'), 1, []],
  ])('takes only missing rights for a clock that cannot be read: %s', async (error, code, unknown) => {
    const { run } = await busyCluster();
    const { write } = ZooKeeperRecords.prototype;
    const writes = vi.spyOn(ZooKeeperRecords.prototype, 'write');
    onTestFinished(() => writes.mockRestore());
    writes.mockImplementation(function (this: ZooKeeperRecords, changes) {
      return changes[0]?.value === 'clock' ? Promise.reject(error) : write.call(this, changes);
    });
    const ended = await run('doctor', '--json');
    expect(ended.code).toBe(code);
    if (code === 0) expect(findingsOf(ended.said, 'unknown')).toEqual(unknown);
    else expect(JSON.parse(ended.said)).toEqual({ error: error.message, isUnavailable: code === 2 });
  });

  it('finds a chroot that does not exist, and finds it again: nothing has created it', async () => {
    const { options } = await busyCluster();
    const connect = `${server.connectString}/nowhere`;
    for (const _ of ['first', 'second']) {
      const io = commandIo();
      expect(await runCommand(['doctor', '--json', ...options, '--connect', connect], io)).toBe(1);
      const { said } = io.written();
      expect(findingsOf(said, 'wrong')).toMatchObject([
        {
          check: 'chroot',
          found: '/nowhere does not exist',
          change: expect.stringContaining('create the znode /nowhere') as unknown,
        },
      ]);
      const found = 'it is looked at by writing, which would create the chroot';
      expect(findingsOf(said, 'unknown')).toMatchObject([
        { check: 'rights', found },
        { check: 'clock', found },
      ]);
    }
  });
});

interface Finding {
  readonly check: string;
  readonly result: string;
  readonly found: string;
  readonly change?: string;
}

function findingsOf(json: string, result: string): readonly Finding[] {
  return (JSON.parse(json) as Finding[]).filter((finding) => finding.result === result);
}

/** A proxy before a server that answers `srvr` itself. Returns its address. */
async function wordFront(port: number, answer: string): Promise<string> {
  const listener = createServer((client) => {
    client.on('error', () => {});
    client.once('data', (bytes) => {
      if (bytes.toString() === 'srvr') return client.end(answer);
      const target = connect(port, '127.0.0.1', () => target.write(bytes));
      target.on('error', () => client.destroy());
      target.on('close', () => client.destroy());
      client.on('close', () => target.destroy());
      return client.pipe(target).pipe(client);
    });
  });
  await new Promise<void>((resolve) => listener.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void listener.close());
  return `127.0.0.1:${(listener.address() as AddressInfo).port}`;
}
