import { providePackages, ZOOKEEPER } from './packages.mjs';

/** Sees to it that the tests find a ZooKeeper to start. Where it cannot, they say themselves what to do. */
export async function provideZooKeeper() {
  for (const name of ['ZOOKEEPER_CONNECT', 'ZOOKEEPER_HOME']) {
    if (process.env[name]) return console.log(`\n> ZooKeeper: ${name}=${process.env[name]}`);
  }
  await providePackages(ZOOKEEPER);
}
