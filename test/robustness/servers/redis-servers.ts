import { FaultProxy, RedisServer } from '../../../lib/testing/index.js';
import type { Servers } from './servers.js';

/** One server that saves nothing, so that a restart loses all its data. */
export async function startRedisServer(): Promise<Servers> {
  const server = await RedisServer.start();
  return {
    ports: [server.port],
    standalone: server,
    openLink: (port) => FaultProxy.open(port),
    stored: (basePath, sessions) => storedOn(server, basePath, sessions),
    restore: () => (server.pid === undefined ? server.restart() : server.thaw()),
    [Symbol.asyncDispose]: () => server.stop(),
  };
}

/** Entries of a session that is over are not counted: the next request for their key removes them. */
async function storedOn(server: RedisServer, basePath: string, sessions: boolean): Promise<string[]> {
  const [seconds] = await list(server, 'TIME');
  const now = Number(seconds) * 1_000;
  const alive = await list(server, 'ZRANGEBYSCORE', `{${basePath}}:s`, String(now), '+inf');
  const left: string[] = sessions ? alive.map((session) => `the session ${session}`) : [];
  for (const key of await list(server, 'KEYS', `{${basePath}}:[hw]:*`)) {
    const entries = key.startsWith(`{${basePath}}:h:`)
      ? await list(server, 'ZRANGE', key, '0', '-1')
      : await list(server, 'LRANGE', key, '0', '-1');
    const standing = entries.filter((entry) => alive.includes(entry.split('|')[1] ?? ''));
    left.push(...standing.map((entry) => `the entry ${entry} of ${key}`));
  }
  return left;
}

/** Returns the elements of an answer that is a list of texts. */
async function list(server: RedisServer, ...command: readonly string[]): Promise<string[]> {
  const answer = await server.ask(...command);
  if (!answer.startsWith('*')) throw new Error(`the server answers ${command[0]} with ${answer}`);
  return answer.split('\r\n').filter((line, place) => place > 0 && line !== '' && !/^\$\d+$/.test(line));
}
