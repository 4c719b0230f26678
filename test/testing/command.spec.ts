import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createRequire } from 'node:module';
import { connect } from 'node:net';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { describe, expect, it, onTestFinished } from 'vitest';
import { openService } from '../support/services.js';

// The built package, because that is what `npx nestjs-distributed-lock` runs.
const COMMAND = fileURLToPath(new URL('../../dist/command/nestjs-distributed-lock.js', import.meta.url));

const run = (args: readonly string[], env: NodeJS.ProcessEnv = {}) => {
  const child = spawn(process.execPath, [COMMAND, ...args], { env: { ...process.env, NODE_ENV: '', ...env } });
  onTestFinished(() => void child.kill('SIGKILL'));
  let [said, complained] = ['', ''];
  child.stdout.on('data', (text) => (said += String(text)));
  child.stderr.on('data', (text) => (complained += String(text)));
  const ended = once(child, 'close').then(([code]) => ({ code: code as number | null, said, complained }));
  return { child, ended };
};

const serve = async (...args: string[]) => {
  const { child, ended } = run(['zookeeper', '--port', '0', ...args]);
  const [banner] = (await once(createInterface(child.stdout), 'line')) as [string];
  return { child, ended, banner, connectString: /on (127\.0\.0\.1:\d+)\./.exec(banner)![1]! };
};

describe('npx nestjs-distributed-lock zookeeper', () => {
  it.each(['SIGINT', 'SIGTERM'] as const)('serves, prints what it is, and ends at %s', async (signal) => {
    const { child, ended, banner, connectString } = await serve();
    expect(banner).toContain('NOT FOR PRODUCTION');
    const locks = await openService({ connectString });
    expect(await locks.tryAcquire('k')).not.toBeNull();
    child.kill(signal);
    expect((await ended).code).toBe(0);
  });

  it('is beside commands that show what is locked', async () => {
    const { connectString } = await serve();
    const locks = await openService({ connectString });
    await locks.acquire('orders/42', { label: 'Orders.place' });
    const who = await run(['who', 'orders/42'], { ZOOKEEPER_CONNECT: connectString }).ended;
    expect(who).toMatchObject({ code: 0, complained: '', said: expect.stringContaining('Orders.place (') });
  });

  it.each(['SIGINT', 'SIGTERM'] as const)(
    'is beside watch, which looks often, complains of nothing and ends at %s',
    async (signal) => {
      const { connectString } = await serve();
      const locks = await openService({ connectString });
      const { child, ended } = run(['watch', 'orders/42', '--every', '10ms'], { ZOOKEEPER_CONNECT: connectString });
      const lines = createInterface(child.stdout)[Symbol.asyncIterator]();
      // Each change is shown by a look of its own.
      for (let look = 0; look < 20; look++) {
        expect((await lines.next()).value).toMatch(/^"orders\/42" is free \(base path \/.*\)$/);
        const lease = await locks.acquire('orders/42');
        for (const start of ['STATE', 'held']) expect((await lines.next()).value).toMatch(new RegExp(`^${start} `));
        await lease.release();
      }
      child.kill(signal);
      expect(await ended).toMatchObject({ code: 0, complained: '' });
    },
  );

  it('ends with its standard input when an option says so', async () => {
    const { child, ended } = await serve('--until-stdin-ends');
    child.stdin.end();
    expect((await ended).code).toBe(0);
  });

  it('ends when it cannot start, also while its standard input is open', async () => {
    const { connectString } = await serve();
    const port = connectString.split(':')[1]!;
    const { code, complained } = await run(['zookeeper', '--port', port, '--until-stdin-ends']).ended;
    expect(code).toBe(1);
    expect(complained).toBe(
      `port ${port} is taken: perhaps by a ZooKeeper that runs already. Use that one, or --port with another number\n`,
    );
  });

  it('ends also while a silent client is connected', async () => {
    const { child, ended, connectString } = await serve();
    const socket = connect(Number(connectString.split(':')[1]), '127.0.0.1').on('error', () => {});
    onTestFinished(() => void socket.destroy());
    await once(socket, 'connect');
    // This connection is accepted after the silent one, so the silent one has been accepted as well.
    await openService({ connectString });
    child.kill('SIGTERM');
    expect((await ended).code).toBe(0);
  });

  it('does not start in production, unless told so in so many words', async () => {
    const refused = await run(['zookeeper', '--port', '0'], { NODE_ENV: 'production' }).ended;
    expect(refused.code).toBe(1);
    expect(refused.complained).toContain('NODE_ENV is "production"');
    const { child, ended } = run(['zookeeper', '--port', '0', '--even-in-production'], { NODE_ENV: 'production' });
    await once(child.stdout, 'data');
    child.kill();
    expect((await ended).code).toBe(0);
  });

  it.each([
    [[], 'which command?'],
    [['etcd'], 'no command "etcd"'],
    [['zookeeper', '--port', 'many'], '--port must be a whole number, got "many"'],
    [['zookeeper', '--prot', '1'], '--prot'],
  ])('reports what is wrong with %j', async (args, complaint) => {
    const { code, complained } = await run(args).ended;
    expect(code).toBe(1);
    expect(complained).toContain(complaint);
    expect(complained).toContain('Usage: nestjs-distributed-lock <command>');
  });

  it('prints its usage', async () => {
    expect(await run(['--help']).ended).toMatchObject({ code: 0, said: expect.stringContaining('--port') });
  });

  it('prints the version of its package', async () => {
    const { version } = createRequire(import.meta.url)('../../package.json') as { version: string };
    expect(await run(['--version']).ended).toEqual({ code: 0, said: `${version}\n`, complained: '' });
  });
});
