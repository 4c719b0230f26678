import { existsSync } from 'node:fs';
import { run, works } from './command.mjs';

const DEBIAN_JAR = '/usr/share/java/zookeeper.jar';

/** Sees to it that the tests find a ZooKeeper to start. Where it cannot, they say themselves what to do. */
export async function provideZooKeeper() {
  for (const name of ['ZOOKEEPER_CONNECT', 'ZOOKEEPER_HOME']) {
    if (process.env[name]) return console.log(`\n> ZooKeeper: ${name}=${process.env[name]}`);
  }
  const missing = missingPackages();
  if (missing.length === 0) return console.log(`\n> ZooKeeper: ${DEBIAN_JAR}`);
  const asRoot = rootPrefix();
  if (!works('apt-get', '--version') || !asRoot) {
    return console.log(`\n> ZooKeeper: not here, and not installed by this script (needs apt-get and root)`);
  }
  await aptInstall(asRoot, missing);
}

function missingPackages() {
  const packages = [];
  if (!existsSync(DEBIAN_JAR)) packages.push('zookeeper');
  if (!works('java', '-version')) packages.push('default-jre-headless');
  return packages;
}

async function aptInstall(asRoot, packages) {
  const apt = [...asRoot, 'env', 'DEBIAN_FRONTEND=noninteractive', 'apt-get', '-q', '-o', 'Acquire::Retries=3'];
  // A source that fails need not be the one that has these packages.
  await run('apt-get update', [...apt, 'update']);
  const install = ['-o', 'DPkg::Lock::Timeout=300', 'install', '-y', '--no-install-recommends', ...packages];
  await run(`apt-get install ${packages.join(' ')}`, [...apt, ...install]);
}

/** What to put before a command that only root may run; `undefined` when that would ask for a password. */
function rootPrefix() {
  if (process.getuid?.() === 0) return [];
  return works('sudo', '-n', 'true') ? ['sudo', '-n'] : undefined;
}
