import { onTestFinished } from 'vitest';
import { deferred } from '../../lib/async/deferred.js';
import { askFourLetterWord } from '../../lib/testing/four-letter-word.js';
import { NodeZooKeeperClient } from '../../lib/zookeeper/client/node-zookeeper-client.js';
import { parseConnectString } from '../../lib/zookeeper/client/connect-string.js';
import type { ZooKeeperClient } from '../../lib/zookeeper/client/zookeeper-client.js';
import { isKeeperError } from '../../lib/zookeeper/session/requests.js';
import { eventually } from './eventually.js';

/** Long enough for a process that a busy machine suspends for a while. */
const SESSION_MS = 30_000;

/** A bare client of its own, to read and change znodes from outside. */
export async function openClient(connectString: string, auth?: string): Promise<ZooKeeperClient> {
  const connected = deferred();
  const { servers } = parseConnectString(connectString);
  const credentials = auth === undefined ? [] : [{ scheme: 'digest', credentials: auth }];
  const client = new NodeZooKeeperClient(
    { servers, sessionTimeoutMs: SESSION_MS, auth: credentials },
    { connected: () => connected.resolve(), disconnected() {}, ended() {}, answered() {} },
  );
  onTestFinished(() => client.close(1_000));
  client.connect();
  await connected.promise;
  return client;
}

/** Returns the contender names in a wait queue, in order. Empty when the directory does not exist. */
export async function contendersAt(client: ZooKeeperClient, path: string): Promise<string[]> {
  const names = await client.children(path).catch((error: unknown) => {
    if (isKeeperError(error, 'noNode')) return [];
    throw error;
  });
  return [...names].sort((a, b) => a.slice(-10).localeCompare(b.slice(-10)));
}

export async function untilContenders(client: ZooKeeperClient, path: string, count: number): Promise<string[]> {
  return eventually(async () => {
    const names = await contendersAt(client, path);
    return names.length === count ? names : undefined;
  }, `${count} contenders at ${path}`);
}

/** Resolves when a znode is watched whose path begins with `path`. */
export async function untilWatched(connectString: string, path: string): Promise<void> {
  const port = Number(connectString.split(':').at(-1));
  const isWatched = async () =>
    (await askFourLetterWord(port, 'wchp')).split('\n').some((line) => line.startsWith(path));
  await eventually(isWatched, `somebody watches ${path}`);
}
