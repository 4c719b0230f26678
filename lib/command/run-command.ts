import { existsSync, readFileSync } from 'node:fs';
import type { CommandIo } from './command-io.js';
import { answerTo } from './confirmation.js';
import { runOnCluster } from './run-on-cluster.js';
import { zookeeperCommand } from './zookeeper-command.js';

const USAGE = `Usage: nestjs-distributed-lock <command> [options]
       nestjs-distributed-lock --help | --version

What is going on in a cluster:
  list [prefix]             the keys, jobs, elections and queues that are in use
  who <key>                 the holders of a key and its waiting contenders, in order
  watch <key>               the same, whenever it has changed, until Ctrl-C
  revoke <key>              asks the holders to release a key, and takes it away after --grace
  leaders [prefix]          the elections and their leaders
  cron                      the latest runs of the jobs of --service
  queues [prefix]           the queues and the numbers of their items
  losses                    the leases that processes of the cluster have lost lately
  doctor                    looks for what operators get wrong, and says what to change

  --backend <name>          zookeeper, redis or etcd. Default zookeeper
  --connect <servers>       as the backend takes them. Default ZOOKEEPER_CONNECT, REDIS_URL or ETCD_HOSTS
  --cluster <host:port,…>   some nodes of a Redis cluster, instead of --connect
  --sentinels <host:port,…>, --sentinel-name <name>  the sentinels of a Redis server and its name there, instead of --connect
  --shards <number>         the shards of redis() in the application. Default 1
  --base-path <path>        the basePath of the backend
  --service <name>          the service of the module
  --json                    one JSON document instead of text
  --tls                     connects over TLS; NODE_EXTRA_CA_CERTS names an authority of your own
  --cert <file>, --key <file>  with --tls: the certificate that the servers ask for, and its private key, as PEM
  --timeout <duration>      how long to look for a server. Default 5s
  --session-timeout <duration>  Default 10s; doctor compares it with what the servers grant
  --most <number>, --within <duration>  bounds of a survey. Default 200, 2s
  --every <duration>        how often watch looks. Default 1s
  --grace <duration>        what revoke leaves to the holders. Default 10s
  --yes                     revoke asks no question

  Credentials are taken from the environment alone: ZOOKEEPER_USER, ZOOKEEPER_PASSWORD, REDIS_USERNAME,
  REDIS_PASSWORD, ETCD_USERNAME, ETCD_PASSWORD; half of a pair is refused. Exit codes: 0, 1 when something is wrong, 2 without a server.

zookeeper                   a ZooKeeper for development and tests, in memory, without Java. It ends at SIGINT and SIGTERM.

  --port <number>           where to listen; 0 for a port that is free. Default 2181
  --host <address>          Default 127.0.0.1, which nobody else reaches
  --tick-time <ms>          sessions last between 2 and 20 of it. Default 2000
  --container-check <ms>    how often empty containers are removed. Default 60000
  --extended-types          znodes may have a time to live
  --until-stdin-ends        ends with the process that started it and holds its standard input
  --even-in-production      starts although NODE_ENV is production. It keeps nothing: do not
`;

const ON_CLUSTERS = ['list', 'who', 'watch', 'revoke', 'leaders', 'cron', 'queues', 'losses', 'doctor'];

/** Returns the message for an error. The usage is appended to those of `zookeeper`, except when the port is taken. */
function complaintOf(error: unknown): string {
  const { code, port } = error as NodeJS.ErrnoException & { readonly port?: number };
  if (code !== 'EADDRINUSE') return `${error instanceof Error ? error.message : String(error)}\n\n${USAGE}`;
  return `port ${port} is taken: perhaps by a ZooKeeper that runs already. Use that one, or --port with another number`;
}

/** Runs one command line. Resolves with the exit code when it is done. */
export async function runCommand(args: readonly string[], io: CommandIo = processIo()): Promise<number> {
  const [command, ...rest] = args;
  if (command === '--help' || command === '-h' || rest.includes('--help')) {
    io.out(USAGE);
    return 0;
  }
  if (command === '--version') {
    io.out(`${ownVersion()}\n`);
    return 0;
  }
  if (command !== undefined && ON_CLUSTERS.includes(command)) {
    return runOnCluster(command, rest, io);
  }
  try {
    if (command !== 'zookeeper') throw new Error(command === undefined ? 'which command?' : `no command "${command}"`);
    await zookeeperCommand(rest);
    return 0;
  } catch (error) {
    io.complain(`${complaintOf(error)}\n`);
    return 1;
  }
}

/** The surroundings of this process. */
function processIo(): CommandIo {
  let ending: AbortController | undefined;
  return {
    out: (text) => void process.stdout.write(text),
    complain: (text) => void process.stderr.write(text),
    env: process.env,
    now: () => Date.now(),
    get signal() {
      // The first look adds the listeners: a command that never looks ends as processes do.
      ending ??= endedBySignals();
      return ending.signal;
    },
    ask: async (question) => {
      if (!process.stdin.isTTY) return undefined;
      return answerTo(question, process.stdin, process.stderr);
    },
  };
}

/** Returns a controller that aborts at SIGINT and SIGTERM. */
function endedBySignals(): AbortController {
  const ending = new AbortController();
  const end = () => ending.abort(new Error('the command was asked to end'));
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, end);
  return ending;
}

/** Returns the version of this package. The build moves the code, so its package.json is looked for upwards. */
function ownVersion(): string {
  let folder = new URL('./', import.meta.url);
  for (let above = new URL('../', folder); above.href !== folder.href; above = new URL('../', folder)) {
    const file = new URL('package.json', folder);
    const { version } = existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as { version?: string }) : {};
    // The folder with CommonJS has a package.json without a version.
    if (version !== undefined) return version;
    folder = above;
  }
  return 'unknown';
}
