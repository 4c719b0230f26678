import type { TestedServer } from '../servers/tested-server.js';
import { SUPER } from '../servers/tested-server.js';
import { getAcl, getChildren, getData, remove, sync } from '../wire/node-requests.js';
import { auth, closeSession } from '../wire/session-requests.js';
import type { Handshake } from './handshake.js';
import { Names } from './names.js';
import { RawClient } from './raw-client.js';

/** The nodes that ZooKeeper creates by itself. */
const OWN = '/zookeeper';

/** Returns the last transaction of the server, from which a scenario counts. */
export async function baseZxid(server: TestedServer): Promise<bigint> {
  const client = await quietClient(server).connect();
  await client.ask(sync('/'));
  await client.close();
  return client.lastZxid;
}

/** Closes all of the sessions, and thereby deletes their nodes, before that can affect another scenario. */
export async function buryAll(server: TestedServer, sessions: readonly Handshake[]): Promise<void> {
  for (const { sessionId, password } of sessions) {
    if (!sessionId) continue;
    const client = await quietClient(server).connect({ sessionId, password: password ?? null });
    if (client.isOpen && client.sessionId !== 0n) await client.ask(closeSession);
    client.destroy();
  }
}

/** Deletes everything that a scenario has left behind. */
export async function sweep(server: TestedServer): Promise<void> {
  await withSuper(server, new Names(0n), async (client) => {
    for (const path of (await pathsBelow(client, '/')).reverse()) await client.ask(remove(path));
  });
}

/** Returns every node, with its data, its stat and its permissions. */
export async function treeLines(server: TestedServer, names: Names, top: string): Promise<string[]> {
  const lines: string[] = [];
  await withSuper(server, names, async (client) => {
    for (const path of [top, ...(await pathsBelow(client, top))]) {
      const [data, acl] = [await client.ask(getData(path)), await client.ask(getAcl(path))];
      lines.push(`${path} ${withoutHeader(data?.text)} ${withoutHeader(acl?.text)}`);
    }
  });
  return lines;
}

async function withSuper(
  server: TestedServer,
  names: Names,
  work: (client: RawClient) => Promise<void>,
): Promise<void> {
  const client = await quietClient(server, names).connect();
  await client.ask(auth('digest', SUPER));
  await work(client);
  await client.close();
}

/** Returns the paths below a node: parents before their children, siblings in order. */
async function pathsBelow(client: RawClient, path: string): Promise<string[]> {
  const reply = await client.ask(getChildren(path));
  const children = [...(reply?.text.matchAll(/"((?:[^"\\]|\\.)*)"/g) ?? [])].map(
    ([text]) => JSON.parse(text) as string,
  );
  const paths: string[] = [];
  for (const child of children) {
    const below = path === '/' ? `/${child}` : `${path}/${child}`;
    // A server with a planted defect may have a node without a name, which would lead back to its parent.
    if (below !== OWN && child !== '') paths.push(below, ...(await pathsBelow(client, below)));
  }
  return paths;
}

function quietClient({ port, patienceMs }: TestedServer, names = new Names(0n)): RawClient {
  return new RawClient('housekeeping', {
    port,
    patienceMs,
    names,
    say() {},
    async settled() {},
  });
}

const withoutHeader = (text = '') => text.replace(/^#\d+ ok zxid=\S+ /, '');
