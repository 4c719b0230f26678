import { parseArgs } from 'node:util';
import { EmbeddedZooKeeper } from '../testing/embedded/embedded-zookeeper.js';
import type { EmbeddedZooKeeperOptions } from '../testing/embedded/embedded.options.js';

const DEFAULT_PORT = 2181;

/** Serves until the process is asked to end. @throws Error for what it does not understand, or when it cannot start */
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
  const asked = askedToEnd(values['until-stdin-ends'] ?? false);
  const zookeeper = await EmbeddedZooKeeper.start({
    port: wholeNumber('--port', values.port) ?? DEFAULT_PORT,
    host: values.host,
    tickTimeMs: wholeNumber('--tick-time', values['tick-time']),
    containerCheckIntervalMs: wholeNumber('--container-check', values['container-check']),
    extendedTypes: values['extended-types'],
    allowInProduction: values['even-in-production'],
    log: (line) => void process.stdout.write(`${line}\n`),
  } satisfies EmbeddedZooKeeperOptions);
  await asked;
  await zookeeper.stop();
}

function askedToEnd(alsoByStdin: boolean): Promise<void> {
  return new Promise((resolve) => {
    const end = () => {
      // An open one would keep this process alive.
      if (alsoByStdin) process.stdin.destroy();
      resolve();
    };
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, end);
    if (alsoByStdin) process.stdin.once('end', end).resume();
  });
}

function wholeNumber(name: string, text: string | undefined): number | undefined {
  if (text !== undefined && !/^\d+$/.test(text)) throw new Error(`${name} must be a whole number, got "${text}"`);
  return text === undefined ? undefined : Number(text);
}
