import { contendersAt, openClient } from '../../../support/znodes.js';
import { eventually } from '../../../support/eventually.js';
import { isKeeperError } from '../../../../lib/zookeeper/session/requests.js';
import type { ZooKeeperClient } from '../../../../lib/zookeeper/client/zookeeper-client.js';

/** Whether the server has the znode. */
export async function isThere(client: ZooKeeperClient, path: string): Promise<boolean> {
  return client.read(path).then(
    () => true,
    (error: unknown) => {
      if (isKeeperError(error, 'noNode')) return false;
      throw error;
    },
  );
}

/** Resolves when the server no longer has the znode. The request bypasses every proxy. */
export async function untilGone(connectString: string, path: string): Promise<void> {
  const client = await openClient(connectString);
  await eventually(async () => !(await isThere(client, path)) || undefined, `${path} gone at the server`);
  await client.close(1_000);
}

/** Whether the server has the znode. The request bypasses every proxy. */
export async function serverHas(connectString: string, path: string): Promise<boolean> {
  const client = await openClient(connectString);
  const answer = await isThere(client, path);
  await client.close(1_000);
  return answer;
}

/** The contenders of a key. The request bypasses every proxy. */
export async function serverLists(connectString: string, path: string): Promise<string[]> {
  const client = await openClient(connectString);
  const names = await contendersAt(client, path);
  await client.close(1_000);
  return names;
}
