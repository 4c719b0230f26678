import { EmbeddedServer } from './embedded-server.js';

export interface ZooKeeper extends AsyncDisposable {
  readonly connectString: string;
}

/** `embedded` needs only Node; `real` is Apache ZooKeeper on Java. */
export type ServerKind = 'embedded' | 'real';

/**
 * Resolves with the ZooKeeper that ZOOKEEPER_CONNECT names, or starts one: the embedded server, unless the real one is
 * requested.
 * @throws Error that says what to install for the real one
 */
export async function provideZooKeeper(kind: ServerKind): Promise<ZooKeeper> {
  const given = process.env['ZOOKEEPER_CONNECT'];
  if (given) {
    console.log(`\nZooKeeper at ${given}, by ZOOKEEPER_CONNECT`);
    return { connectString: given, [Symbol.asyncDispose]: async () => {} };
  }
  if (kind === 'real') return startReal();
  const server = await EmbeddedServer.start();
  console.log(`\n${server.banner}`);
  return server;
}

async function startReal(): Promise<ZooKeeper> {
  console.log('\nStarting Apache ZooKeeper …');
  const { ZooKeeperServer } = await import('nestjs-distributed-lock/testing');
  return ZooKeeperServer.start();
}
