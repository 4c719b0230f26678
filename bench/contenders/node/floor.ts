/**
 * The requests that every ZooKeeper lock needs, without any locking: create and list in one round trip, then delete. It
 * uses the same driver as this package.
 */
import { parseConnectString } from '../../../lib/zookeeper/client/connect-string.js';
import { NodeZooKeeperClient } from '../../../lib/zookeeper/client/node-zookeeper-client.js';
import { CreateMode } from '../../../lib/zookeeper/client/zookeeper-client.js';
import type { ContenderOptions, Locker, OpenContender } from './contender.js';

const ACL = [{ permissions: 31, scheme: 'world', id: 'anyone' }];

export async function open(address: string, _options: ContenderOptions): Promise<OpenContender> {
  const client = await connected(address);
  return {
    locker: (key) => floorOf(client, key),
    close: () => client.close(1_000),
  };
}

async function floorOf(client: NodeZooKeeperClient, key: string): Promise<Locker<string>> {
  const directory = `/floor-${key.replaceAll('/', '-')}`;
  await client.create({ path: directory, data: Buffer.alloc(0), acl: ACL, mode: CreateMode.persistent });
  const path = `${directory}/_c_00000000-0000-0000-0000-000000000000-lock-`;
  const data = Buffer.alloc(16);
  return {
    async acquire() {
      const created = client.create({ path, data, acl: ACL, mode: CreateMode.ephemeralSequential });
      const [{ path: own }] = await Promise.all([created, client.children(directory)]);
      return own;
    },
    release: (own) => client.delete(own),
  };
}

function connected(address: string): Promise<NodeZooKeeperClient> {
  return new Promise((resolve, reject) => {
    const { servers } = parseConnectString(address);
    const client = new NodeZooKeeperClient(
      { servers, sessionTimeoutMs: 30_000, auth: [] },
      {
        connected: () => resolve(client),
        disconnected() {},
        ended: (why) => reject(new Error(`the floor's session: ${why}`)),
        answered() {},
      },
    );
    client.connect();
  });
}
