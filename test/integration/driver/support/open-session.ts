import { onTestFinished } from 'vitest';
import { NodeZooKeeperClient } from '../../../../lib/zookeeper/client/node-zookeeper-client.js';
import { parseConnectString } from '../../../../lib/zookeeper/client/connect-string.js';
import type { ZooKeeperClient } from '../../../../lib/zookeeper/client/zookeeper-client.js';
import type { Session } from '../../../../lib/zookeeper/session/session.js';
import { SessionSupervisor } from '../../../../lib/zookeeper/session/session-supervisor.js';
import { CreateMode } from '../../../../lib/zookeeper/session/requests.js';
import type { CreatedNode, Requests } from '../../../../lib/zookeeper/session/requests.js';

export interface OpenedSession {
  readonly session: Session;
  readonly sessions: SessionSupervisor;
  /** The client of the session. */
  readonly client: ZooKeeperClient;
}

/** A session with everything that keeps it alive, but without locks. */
export async function openSession(connectString: string, sessionTimeoutMs = 4_000): Promise<OpenedSession> {
  const { servers } = parseConnectString(connectString);
  const clients: NodeZooKeeperClient[] = [];
  const sessions = new SessionSupervisor((listener) => {
    const client = new NodeZooKeeperClient({ servers, sessionTimeoutMs, auth: [] }, listener);
    clients.push(client);
    return client;
  }, 20_000);
  onTestFinished(() => sessions.close());
  const session = await sessions.session();
  return { session, sessions, client: clients[0]! };
}

export const OPEN_ACL = [{ permissions: 31, scheme: 'world', id: 'anyone' }];
const EMPTY = Buffer.alloc(0);

export function createEphemeral(requests: Pick<Requests, 'create'>, path: string): Promise<CreatedNode> {
  return requests.create({ path, data: EMPTY, acl: OPEN_ACL, mode: CreateMode.ephemeral });
}

export function createPersistent(
  requests: Pick<Requests, 'create'>,
  path: string,
  data: Buffer = EMPTY,
): Promise<CreatedNode> {
  return requests.create({ path, data, acl: OPEN_ACL, mode: CreateMode.persistent });
}
