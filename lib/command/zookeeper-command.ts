import { parseArgs } from 'node:util';
import { EmbeddedZooKeeper } from '../testing/embedded/embedded-zookeeper.js';
import type { EmbeddedZooKeeperOptions } from '../testing/embedded/embedded.options.js';

const DEFAULT_PORT = 2181;

/**
 * Runs the server until the process is asked to end.
 * @throws Error for arguments that it does not understand, or when the server cannot start
 */
export async function zookeeperCommand(args: readonly string[]): Promise<void> {
  const { values } = parseArgs({
    args: [...args],
    options: {
      port: { type: 'string' },
      host: { type: 'string' },
      'tick-time': { type: 'string' },
      'container-check': { type: 'string' },
      'extended-types': { type: 'boolean' },
      'until-stdin-ends': { type: 'boolean' },
      'even-in-production': { type: 'boolean' },
    },
  });
  const options = {
    port: wholeNumber('--port', values.port) ?? DEFAULT_PORT,
    host: values.host,
    tickTimeMs: wholeNumber('--tick-time', values['tick-time']),
    containerCheckIntervalMs: wholeNumber('--container-check', values['container-check']),
    extendedTypes: values['extended-types'],
    allowInProduction: values['even-in-production'],
    log: (line: string) => void process.stdout.write(`${line}\n`),
  } satisfies EmbeddedZooKeeperOptions;
  await serve(options, values['until-stdin-ends'] ?? false);
}

async function serve(options: EmbeddedZooKeeperOptions, untilStdinEnds: boolean): Promise<void> {
  const asked = askedToEnd(untilStdinEnds);
  try {
    const zookeeper = await EmbeddedZooKeeper.start(options);
    await asked;
    await zookeeper.stop();
  } finally {
    // An open standard input would keep this process alive, even when the server could not start.
    if (untilStdinEnds) process.stdin.destroy();
  }
}

function askedToEnd(alsoByStdin: boolean): Promise<void> {
  return new Promise((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => resolve());
    if (alsoByStdin) process.stdin.once('end', () => resolve()).resume();
  });
}

function wholeNumber(name: string, text: string | undefined): number | undefined {
  if (text !== undefined && !/^\d+$/.test(text)) throw new Error(`${name} must be a whole number, got "${text}"`);
  return text === undefined ? undefined : Number(text);
}
