import { existsSync, readdirSync } from 'node:fs';
import { run, works } from './command.mjs';

const hasFile = (path) => () => existsSync(path);

/** In the folder of whichever architecture this is. */
const hasLibrary = (name) => () => {
  const folders = existsSync('/usr/lib') ? readdirSync('/usr/lib') : [];
  return folders.some((folder) => existsSync(`/usr/lib/${folder}/${name}`));
};

/** The places where the tests look for a browser, besides `CHROMIUM_PATH`. */
const BROWSERS = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'];

function hasChromium() {
  return [process.env.CHROMIUM_PATH, ...BROWSERS].some((path) => path !== undefined && existsSync(path));
}

/** Debian's packages that this repository's tests and benches need: what for, how to see that one is there. */
const PACKAGES = {
  zookeeper: { purpose: 'the server that grants the locks', isThere: hasFile('/usr/share/java/zookeeper.jar') },
  'default-jre-headless': { purpose: 'runs ZooKeeper', isThere: () => works('java', '-version') },
  'default-jdk-headless': { purpose: "compiles what calls Curator's locks", isThere: () => works('javac', '-version') },
  'libcurator-recipes-java': { purpose: "Curator's locks", isThere: hasFile('/usr/share/java/curator-recipes.jar') },
  'python3-kazoo': { purpose: "kazoo's locks", isThere: hasFile('/usr/lib/python3/dist-packages/kazoo') },
  'libzookeeper-mt2': {
    purpose: "ZooKeeper's client in C",
    isThere: hasLibrary('libzookeeper_mt.so.2'),
  },
  'redis-server': {
    purpose: 'a server that grants the locks, and the server of redlock and redis-semaphore',
    isThere: hasFile('/usr/bin/redis-server'),
    service: 'redis-server',
  },
  'etcd-server': {
    purpose: "a server that grants the locks, and the server of etcd3's locks",
    isThere: hasFile('/usr/bin/etcd'),
    service: 'etcd',
  },
  'golang-go': { purpose: "compiles what calls Go's locks", isThere: () => works('go', 'version') },
  'golang-etcd-server-dev': {
    purpose: "Go's locks on etcd",
    isThere: hasFile('/usr/share/gocode/src/go.etcd.io/etcd/clientv3/concurrency'),
  },
  chromium: { purpose: 'the browser that opens the page of locks', isThere: hasChromium },
  prometheus: {
    purpose: 'promtool, which tries the alerts',
    isThere: () => works('promtool', '--version'),
    service: 'prometheus',
  },
};

/** The server of the tests and the sample. */
export const ZOOKEEPER = ['zookeeper', 'default-jre-headless'];

/** The browser of the tests of the page. */
export const BROWSER = ['chromium'];

/** The tools that try the alerts. */
export const PROMETHEUS = ['prometheus'];

/** The server of the locks on Redis. */
export const REDIS = ['redis-server'];

/** The server of the locks on etcd. */
export const ETCD = ['etcd-server'];

/** The library with locks on etcd that the tests run against ours. */
export const GO = ['golang-go', 'golang-etcd-server-dev'];

/** The libraries with locks that the bench and the interop tests run beside ours. The embedded server serves their clients. */
export const PEERS = [
  'default-jdk-headless',
  'libcurator-recipes-java',
  'python3-kazoo',
  'libzookeeper-mt2',
  'redis-server',
  'etcd-server',
];

/** Installs those of the packages that are not there. Where it cannot, what needs them fails and says so. */
export async function providePackages(names) {
  const missing = names.filter((name) => !PACKAGES[name].isThere());
  if (missing.length === 0) return console.log(`\n> Debian packages: ${names.join(', ')}`);
  for (const name of missing) console.log(`\n> Debian package ${name} is not here: ${PACKAGES[name].purpose}`);
  const asRoot = rootPrefix();
  if (!works('apt-get', '--version') || !asRoot) {
    return console.log('> not installed by this script (needs apt-get and root)');
  }
  await aptInstall(asRoot, missing);
  endServices(asRoot, missing);
}

export const hasPackages = (names) => names.every((name) => PACKAGES[name].isThere());

async function aptInstall(asRoot, packages) {
  const apt = [...asRoot, 'env', 'DEBIAN_FRONTEND=noninteractive', 'apt-get', '-q', '-o', 'Acquire::Retries=3'];
  // A source that fails need not be the one that has these packages.
  await run('apt-get update', [...apt, 'update']);
  const install = ['-o', 'DPkg::Lock::Timeout=300', 'install', '-y', '--no-install-recommends', ...packages];
  await run(`apt-get install ${packages.join(' ')}`, [...apt, ...install]);
}

/** Only servers that a run has started itself are used: nobody needs those that an installation starts. */
function endServices(asRoot, packages) {
  const services = packages.map((name) => PACKAGES[name].service).filter((service) => service !== undefined);
  for (const service of services) {
    if (!works(...asRoot, 'systemctl', 'disable', '--now', service)) works(...asRoot, 'service', service, 'stop');
  }
}

/** The words before a command that only root may run; `undefined` when they would ask for a password. */
function rootPrefix() {
  if (process.getuid?.() === 0) return [];
  return works('sudo', '-n', 'true') ? ['sudo', '-n'] : undefined;
}
