import { ZooKeeperServer } from 'nestjs-distributed-lock/testing';

export interface ZooKeeper extends AsyncDisposable {
  readonly connectString: string;
}

/** The ZooKeeper that ZOOKEEPER_CONNECT names, or one of our own. @throws Error that says what to install */
export async function provideZooKeeper(): Promise<ZooKeeper> {
  const given = process.env['ZOOKEEPER_CONNECT'];
  if (given) return { connectString: given, [Symbol.asyncDispose]: async () => {} };
  console.log('\nStarting ZooKeeper …');
  return ZooKeeperServer.start();
}
