import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { EtcdServer, RedisServer, ZooKeeperServer } from '../../lib/testing/index.js';
import { unusedPort } from '../support/unused-port.js';

const run = promisify(execFile);
// The built program: Node reads NODE_EXTRA_CA_CERTS when a process starts, and never again.
const COMMAND = fileURLToPath(new URL('../../dist/command/nestjs-distributed-lock.js', import.meta.url));

/** An authority with a certificate for servers on this machine, and another one that has signed nothing. */
const CERTIFICATES = `
  new_key='-newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes'
  for name in ca other; do openssl req -x509 $new_key -days 2 -subj /CN=$name -keyout $name.key -out $name.pem; done
  openssl req $new_key -subj /CN=server -addext subjectAltName=IP:127.0.0.1 -keyout server.key -out server.csr
  openssl x509 -req -in server.csr -CA ca.pem -CAkey ca.key -CAcreateserial -copy_extensions copy -days 2 -out server.pem
  cat server.key server.pem >server.both.pem
`;

let folder: string;
const file = (name: string) => join(folder, name);

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'command-tls-'));
  await run('sh', ['-euc', CERTIFICATES], { cwd: folder });
});

afterAll(() => rm(folder, { recursive: true }));

/** Starts a server of each kind. Returns its address for --connect. */
const SERVERS = {
  zookeeper: async (clientAuth = 'none') => {
    const secureClientPort = await unusedPort();
    const server = await ZooKeeperServer.start({
      settings: {
        secureClientPort,
        secureClientPortAddress: '127.0.0.1',
        serverCnxnFactory: 'org.apache.zookeeper.server.NettyServerCnxnFactory',
        'ssl.keyStore.location': file('server.both.pem'),
        'ssl.keyStore.type': 'PEM',
        'ssl.trustStore.location': file('ca.pem'),
        'ssl.trustStore.type': 'PEM',
        'ssl.clientAuth': clientAuth,
      },
    });
    onTestFinished(() => server.stop());
    return `127.0.0.1:${secureClientPort}`;
  },
  redis: async () => {
    const port = await unusedPort();
    const files = { 'tls-cert-file': file('server.pem'), 'tls-key-file': file('server.key') };
    const durable = { appendonly: 'yes', appendfsync: 'always' };
    const server = await RedisServer.start({
      settings: { 'tls-port': port, 'tls-auth-clients': 'no', ...files, ...durable },
    });
    onTestFinished(() => server.stop());
    return `redis://127.0.0.1:${port}`;
  },
  etcd: async () => {
    const port = await unusedPort();
    const plain = await unusedPort();
    const server = await EtcdServer.start({
      flags: {
        'cert-file': file('server.pem'),
        'key-file': file('server.key'),
        'listen-client-urls': `https://127.0.0.1:${port},http://127.0.0.1:${plain}`,
      },
    });
    onTestFinished(() => server.stop());
    return `127.0.0.1:${port}`;
  },
} as const;

interface Finding {
  readonly check: string;
  readonly result: string;
  readonly found: string;
}

interface Ended {
  readonly code: number | null;
  /** The findings, or the error. */
  readonly answer: readonly Finding[] | { readonly error: string };
}

/** Runs doctor over TLS in a process that trusts this authority. */
function doctor(backend: string, connect: string, authority: string | undefined, timeout: string): Promise<Ended> {
  const env = { ...process.env, NODE_EXTRA_CA_CERTS: authority && file(authority) };
  const args = ['doctor', '--tls', '--backend', backend, '--connect', connect, '--timeout', timeout, '--json'];
  return new Promise((resolve) => {
    const child = execFile(process.execPath, [COMMAND, ...args], { env }, (_, said) =>
      resolve({ code: child.exitCode, answer: JSON.parse(said) as Ended['answer'] }),
    );
  });
}

describe.each(Object.entries<() => Promise<string>>(SERVERS))('doctor --tls on %s', (backend, start) => {
  it('looks at a server whose authority it is told of, and refuses others', async () => {
    const connect = await start();
    const { answer } = await doctor(backend, connect, 'ca.pem', '60s');
    // Debian's etcd is older than it should be, which is a line of `server`.
    const findings = (answer as Finding[]).filter(({ check }) => check !== 'server');
    expect(findings.filter(({ result }) => result !== 'ok')).toEqual([]);
    expect(findings.map(({ check }) => check)).toEqual(expect.arrayContaining(['connection', 'rights', 'clock']));
    const error = expect.stringMatching(/within 3000 ms \(.*unable to verify the first certificate/) as unknown;
    const refused = { code: 2, answer: { error, isUnavailable: true } };
    const strangers = ['other.pem', undefined].map((authority) => doctor(backend, connect, authority, '3s'));
    expect(await Promise.all(strangers)).toEqual([refused, refused]);
  });

  it('refuses a server whose certificate names another host', async () => {
    const connect = (await start()).replace('127.0.0.1', 'localhost');
    const error = expect.stringContaining("does not match certificate's altnames: Host: localhost.") as unknown;
    expect(await doctor(backend, connect, 'ca.pem', '3s')).toEqual({ code: 2, answer: { error, isUnavailable: true } });
  });
});

it('doctor --tls has no certificate of its own for servers that ask for one', async () => {
  const connect = await SERVERS.zookeeper('need');
  const error = expect.stringContaining('alert bad certificate') as unknown;
  expect(await doctor('zookeeper', connect, 'ca.pem', '3s')).toEqual({
    code: 2,
    answer: { error, isUnavailable: true },
  });
});
