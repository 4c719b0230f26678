import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { redis } from '../../lib/redis/index.js';
import { RedisServer } from '../../lib/testing/index.js';
import { lost } from '../support/lost.js';
import { AnsweringProxy } from './support/answering-proxy.js';
import { clientsOf, hold, requestFor } from './support/clients.js';

let server: RedisServer;

beforeAll(async () => {
  server = await RedisServer.start();
});
afterAll(() => server.stop());

const CONNECT_MS = 2_000;
const open = clientsOf({ restartDelayMs: 0, sessionTimeoutMs: 1_000, connectTimeoutMs: CONNECT_MS });

async function proxied(): Promise<AnsweringProxy> {
  const proxy = await AnsweringProxy.open(server.port);
  onTestFinished(() => proxy.close());
  return proxy;
}

const SCRIPTS = ['EVALSHA', 'EVAL'];

/** Every refusal of a server, and the code of the error that a caller gets while it lasts. */
const REFUSALS = [
  ['LOADING Redis is loading the dataset in memory', 'LOCK_UNAVAILABLE'],
  ["READONLY You can't write against a read only replica.", 'LOCK_UNAVAILABLE'],
  ['NOREPLICAS Not enough good replicas to write.', 'LOCK_UNAVAILABLE'],
  ["OOM command not allowed when used memory > 'maxmemory'.", 'LOCK_UNAVAILABLE'],
  ['BUSY Redis is busy running a script.', 'LOCK_UNAVAILABLE'],
  ['UNKILLABLE Sorry the script already executed write commands', 'LOCK_UNAVAILABLE'],
  ['NOSCRIPT No matching script. Please use EVAL.', 'LOCK_UNAVAILABLE'],
  ['MISCONF Redis is configured to save RDB snapshots', 'LOCK_UNAVAILABLE'],
  ["MASTERDOWN Link with MASTER is down and replica-serve-stale-data is set to 'no'.", 'LOCK_UNAVAILABLE'],
  ['MOVED 3999 127.0.0.1:1', 'LOCK_UNAVAILABLE'],
  ['ASK 3999 127.0.0.1:1', 'LOCK_UNAVAILABLE'],
  ['TRYAGAIN Multiple keys request during rehashing of slot', 'LOCK_UNAVAILABLE'],
  ['CLUSTERDOWN The cluster is down', 'LOCK_UNAVAILABLE'],
  ["CROSSSLOT Keys in request don't hash to the same slot", 'LOCK_CONFIGURATION'],
  ['NOAUTH Authentication required.', 'LOCK_CONFIGURATION'],
  ["NOPERM this user has no permissions to run the 'evalsha' command", 'LOCK_CONFIGURATION'],
  ['ERR something that nobody has heard of', 'LOCK_UNAVAILABLE'],
] as const;

/** Runs a check for all refusals at the same time: each waits for the end of a session. */
async function forEach(check: (refusal: string, code: string) => Promise<void>): Promise<void> {
  const checks = REFUSALS.map(([refusal, code]) =>
    check(refusal, code).catch((cause: unknown) => {
      throw new Error(`${refusal}: ${String(cause)}`, { cause });
    }),
  );
  await Promise.all(checks);
}

describe('a server that refuses, with each of its refusals', () => {
  it('grants nothing, settles every call in time, ends leases at their deadline, and serves later', async () => {
    await forEach(async (refusal, code) => {
      const proxy = await proxied();
      const client = open(proxy.url);
      const [lease, other] = [await hold(client, `k ${refusal}`), await hold(client, `other ${refusal}`)];
      proxy.refuse(refusal, ...SCRIPTS);
      const free = `free ${refusal}`;
      await expect(client.acquire(requestFor(free, { wait: false }))).rejects.toMatchObject({ code });
      // A call that may wait ends at the latest with its signal.
      const signal = AbortSignal.timeout(CONNECT_MS);
      const isSettled = (error: { code?: string }) => error === signal.reason || error.code === code;
      await expect(client.acquire(requestFor(free, { signal }))).rejects.toSatisfy(isSettled);
      await other.release();
      await lost(lease);
      proxy.heal();
      await expect.poll(() => hold(client, free).catch(() => undefined)).toBeDefined();
    });
  });

  it('is no server to begin with: connecting is refused in time', async () => {
    await forEach(async (refusal, code) => {
      const proxy = await proxied();
      proxy.refuse(refusal, ...SCRIPTS);
      const client = open(proxy.url);
      // A server that never served this process is not about to be replaced by another one.
      const isWrong = /^(?:MOVED|ASK|READONLY)/.test(refusal);
      await expect(client.connect()).rejects.toMatchObject({ code: isWrong ? 'LOCK_CONFIGURATION' : code });
      expect(client.state).not.toBe('connected');
    });
  });
});

describe('a server that has lost its scripts', () => {
  it('is given them again, and grants', async () => {
    const proxy = await proxied();
    proxy.refuse('NOSCRIPT No matching script. Please use EVAL.', 'EVALSHA');
    const lease = await hold(open(proxy.url), 'again');
    expect(lease.isHeld()).toBe(true);
    await lease.release();
  });
});

describe('a server that is too old', () => {
  it.each(['5.0.14', '6.0.16', '2.8'])('in version %s is refused, and the error says what to do', async (version) => {
    const proxy = await proxied();
    proxy.answer('INFO', `redis_version:${version}\r\nmaxmemory:0\r\n`);
    await expect(open(proxy.url).connect()).rejects.toMatchObject({
      code: 'LOCK_CONFIGURATION',
      message: expect.stringMatching(
        /has version .*; redis\(\) needs Redis 6\.2 or later, .*: upgrade the server/,
      ) as unknown,
    });
  });

  it('is not one of the oldest version that is served', async () => {
    const proxy = await proxied();
    proxy.answer('INFO', 'redis_version:6.2.0\r\nmaxmemory:0\r\n');
    const client = open(proxy.url);
    await client.connect();
    expect(client.state).toBe('connected');
  });
});

describe('options that cannot be right', () => {
  const cluster = [{ host: 'localhost', port: 7_000 }];
  it.each<[string, object, string]>([
    ['a cluster that is no list', { cluster: 'localhost:7000' }, 'cluster must be a list of { host, port }'],
    ['a cluster without nodes', { cluster: [] }, 'cluster must be a list of { host, port }, not empty'],
    ['a node without a host', { cluster: [{ port: 7_000 }] }, 'cluster.host must be'],
    ['a node with a port that is none', { cluster: [{ host: 'a', port: 70_000 }] }, 'cluster.port must be'],
    ['a node with a misspelt field', { cluster: [{ host: 'a', prot: 1 }] }, 'prot'],
    ['a cluster and a URL', { cluster, url: 'redis://localhost' }, 'give one of url and cluster'],
    ['plain locks in a cluster', { cluster, plainLocks: true }, 'plainLocks needs one server'],
    ['no shards', { shards: 0 }, 'shards must be a whole number from 1 to 128'],
    ['half a shard', { shards: 1.5 }, 'shards must be a whole number'],
    ['too many shards', { shards: 129 }, 'shards must be a whole number'],
    ['a connection that is none', { connection: { nodes: 3 } }, 'connection must be a client'],
  ])('%s', (_what, options, message) => {
    expect(() => redis(options)).toThrow(message);
  });

  it('a server that is in no cluster, given as one', async () => {
    const client = redis({
      cluster: [{ host: '127.0.0.1', port: server.port }],
      connectTimeoutMs: CONNECT_MS,
    }).create();
    onTestFinished(() => client.close());
    await expect(client.connect()).rejects.toMatchObject({
      code: 'LOCK_CONFIGURATION',
      message: expect.stringContaining('is not in cluster mode: leave out `cluster`') as unknown,
    });
  });
});
