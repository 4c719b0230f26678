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
  openssl req $new_key -subj /CN=shop -keyout shop.key -out shop.csr
  for name in server shop; do
    openssl x509 -req -in $name.csr -CA ca.pem -CAkey ca.key -CAcreateserial -copy_extensions copy -days 2 -out $name.pem
  done
  cat server.key server.pem >server.both.pem
`;

let folder: string;
const file = (name: string) => join(folder, name);

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'command-tls-'));
  await run('sh', ['-euc', CERTIFICATES], { cwd: folder });
});

afterAll(() => rm(folder, { recursive: true }));

type Asks = 'nobody' | 'everybody';

/** Starts a server of each kind, which asks clients for a certificate or does not. Returns its address for --connect. */
const SERVERS = {
  zookeeper: async (asks: Asks = 'nobody') => {
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
        'ssl.clientAuth': asks === 'everybody' ? 'need' : 'none',
      },
    });
    onTestFinished(() => server.stop());
    return `127.0.0.1:${secureClientPort}`;
  },
  redis: async (asks: Asks = 'nobody') => {
    const port = await unusedPort();
    const files = { 'tls-cert-file': file('server.pem'), 'tls-key-file': file('server.key') };
    const authority = asks === 'everybody' && { 'tls-ca-cert-file': file('ca.pem') };
    const clients = { 'tls-auth-clients': asks === 'everybody' ? 'yes' : 'no', ...authority };
    const durable = { appendonly: 'yes', appendfsync: 'always' };
    const server = await RedisServer.start({ settings: { 'tls-port': port, ...files, ...clients, ...durable } });
    onTestFinished(() => server.stop());
    return `redis://127.0.0.1:${port}`;
  },
  etcd: async (asks: Asks = 'nobody') => {
    const port = await unusedPort();
    const plain = await unusedPort();
    const server = await EtcdServer.start({
      flags: {
        'cert-file': file('server.pem'),
        'key-file': file('server.key'),
        ...(asks === 'everybody' && { 'trusted-ca-file': file('ca.pem'), 'client-cert-auth': true }),
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

interface Run {
  readonly backend: string;
  readonly connect: string;
  /** The authority that the process trusts. */
  readonly authority?: string | undefined;
  readonly timeout: string;
  readonly more?: readonly string[];
}

/** Runs doctor over TLS. */
function doctor({ backend, connect, authority, timeout, more = [] }: Run): Promise<Ended> {
  const env = { ...process.env, NODE_EXTRA_CA_CERTS: authority && file(authority) };
  const args = ['doctor', '--tls', '--backend', backend, '--connect', connect, '--timeout', timeout, '--json', ...more];
  return new Promise((resolve) => {
    const child = execFile(process.execPath, [COMMAND, ...args], { env }, (_, said) =>
      resolve({ code: child.exitCode, answer: JSON.parse(said) as Ended['answer'] }),
    );
  });
}

/** The findings but for the line about the age of Debian's etcd. */
const findingsIn = (answer: Ended['answer']) => (answer as Finding[]).filter(({ check }) => check !== 'server');

describe.each(Object.entries<(asks?: Asks) => Promise<string>>(SERVERS))('doctor --tls on %s', (backend, start) => {
  it('looks at a server whose authority it is told of, and refuses others', async () => {
    const connect = await start();
    const findings = findingsIn((await doctor({ backend, connect, authority: 'ca.pem', timeout: '60s' })).answer);
    expect(findings.filter(({ result }) => result !== 'ok')).toEqual([]);
    expect(findings.map(({ check }) => check)).toEqual(expect.arrayContaining(['connection', 'rights', 'clock']));
    const error = expect.stringMatching(/within 15000 ms \(.*unable to verify the first certificate/) as unknown;
    const refused = { code: 2, answer: { error, isUnavailable: true } };
    const strangers = ['other.pem', undefined].map((authority) =>
      doctor({ backend, connect, authority, timeout: '15s' }),
    );
    expect(await Promise.all(strangers)).toEqual([refused, refused]);
  });

  it('refuses a server whose certificate names another host', async () => {
    const connect = (await start()).replace('127.0.0.1', 'localhost');
    const error = expect.stringContaining("does not match certificate's altnames: Host: localhost.") as unknown;
    // So long that a busy machine shakes hands within the time of one attempt.
    const ended = await doctor({ backend, connect, authority: 'ca.pem', timeout: '15s' });
    expect(ended).toEqual({ code: 2, answer: { error, isUnavailable: true } });
  });

  it('shows the certificate that it is given to a server that asks for one', async () => {
    const connect = await start('everybody');
    const common = { backend, connect, authority: 'ca.pem' };
    const more = ['--cert', file('shop.pem'), '--key', file('shop.key')];
    const findings = findingsIn((await doctor({ ...common, timeout: '60s', more })).answer);
    expect(findings.filter(({ result }) => result !== 'ok')).toEqual([]);
    expect(findings.map(({ check }) => check)).toEqual(expect.arrayContaining(['connection', 'rights', 'clock']));
    // The server's alert is lost when the command is still writing.
    const without = await doctor({ ...common, timeout: '3s' });
    expect(without).toMatchObject({ code: 2, answer: { isUnavailable: true } });
  });
});
