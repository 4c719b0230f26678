import { zookeeperCommand } from './zookeeper-command.js';

const USAGE = `Usage: nestjs-distributed-lock zookeeper [--port 2181] [--host 127.0.0.1]

A ZooKeeper for development and tests, in memory, without Java. It ends at SIGINT and SIGTERM.

  --port <number>           where to listen; 0 for a port that is free. Default 2181
  --host <address>          Default 127.0.0.1, which nobody else reaches
  --tick-time <ms>          sessions last between 2 and 20 of it. Default 2000
  --container-check <ms>    how often empty containers are removed. Default 60000
  --extended-types          znodes may have a time to live
  --until-stdin-ends        ends with the process that started it and holds its standard input
  --even-in-production      starts although NODE_ENV is production. It keeps nothing: do not
`;

/** Returns the message for an error. The usage is appended, except when the port is taken. */
function complaintOf(error: unknown): string {
  const { code, port } = error as NodeJS.ErrnoException & { readonly port?: number };
  if (code !== 'EADDRINUSE') return `${error instanceof Error ? error.message : String(error)}\n\n${USAGE}`;
  return `port ${port} is taken: perhaps by a ZooKeeper that runs already. Use that one, or --port with another number`;
}

/** Runs one command line. Resolves with the exit code when it is done. */
export async function runCommand(args: readonly string[]): Promise<number> {
  const [command, ...rest] = args;
  if (command === '--help' || command === '-h' || rest.includes('--help')) {
    process.stdout.write(USAGE);
    return 0;
  }
  try {
    if (command !== 'zookeeper') throw new Error(command === undefined ? 'which command?' : `no command "${command}"`);
    await zookeeperCommand(rest);
    return 0;
  } catch (error) {
    process.stderr.write(`${complaintOf(error)}\n`);
    return 1;
  }
}
