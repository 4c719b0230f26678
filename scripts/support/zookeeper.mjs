import { works } from './command.mjs';
import { hasPackages, providePackages, ZOOKEEPER } from './packages.mjs';

/**
 * Sees to it that there is a real ZooKeeper to use: one that runs already, or one that can be started. Where there is
 * none, it is installed if that can be done. Says whether there is one now.
 */
export async function provideZooKeeper() {
  for (const name of ['ZOOKEEPER_CONNECT', 'ZOOKEEPER_HOME']) {
    if (!process.env[name]) continue;
    console.log(`\n> ZooKeeper: ${name}=${process.env[name]}`);
    return true;
  }
  await providePackages(ZOOKEEPER);
  return hasPackages(ZOOKEEPER) || works('docker', 'info');
}
