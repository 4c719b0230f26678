import { execFileSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

/** The parameters that are needed to start a server. */
export interface ServerPlan {
  /** The directory of its files: `zoo.cfg` and `data/`. */
  readonly dir: string;
  readonly port: number;
  readonly systemProperties: Readonly<Record<string, string>>;
}

/** A command that starts a server, and the paths and ports of its plan as that server sees them. */
export interface ServerCommand {
  readonly argv: readonly [string, ...string[]];
  readonly dataDir: string;
  readonly clientAddress: string;
  readonly clientPort: number;
  /** The command that forwards a signal. Set where a signal to the started process would not reach the server. */
  readonly signalArgv?: (signal: string) => readonly [string, ...string[]];
}

/** A ZooKeeper installation that can be run on this machine. */
export interface ZooKeeperDistribution {
  readonly name: string;
  command(plan: ServerPlan): ServerCommand;
}

const MAIN_CLASS = 'org.apache.zookeeper.server.quorum.QuorumPeerMain';
const DEBIAN_JAR = '/usr/share/java/zookeeper.jar';
const DEBIAN_LOGGING = '/usr/share/java/slf4j-simple.jar';
// The server's TLS needs more Netty jars than the class path in its own jar names.
const DEBIAN_NETTY = ['codec', 'common', 'resolver'].map((part) => `/usr/share/java/netty-${part}.jar`);
const DOCKER_IMAGE = 'zookeeper:3.8';

const HELP = `No ZooKeeper found to run. Do one of these:
  - set ZOOKEEPER_CONNECT=host:port to test against a server that runs already
  - set ZOOKEEPER_HOME to an unpacked Apache ZooKeeper, and have java on the PATH
  - apt-get install zookeeper (Debian, Ubuntu)
  - start Docker, whose image ${DOCKER_IMAGE} is used then`;

/** @throws Error that names what to install or set when no distribution can be run */
export function findZooKeeperDistribution(env: NodeJS.ProcessEnv = process.env): ZooKeeperDistribution {
  if (env['ZOOKEEPER_HOME']) return apacheDistribution(env['ZOOKEEPER_HOME']);
  if (existsSync(DEBIAN_JAR) && works('java', '-version')) return debianDistribution();
  if (works('docker', 'info')) return dockerDistribution();
  throw new Error(HELP);
}

function apacheDistribution(home: string): ZooKeeperDistribution {
  const hasJar = [home, join(home, 'lib')].some((dir) => filesOf(dir).some((file) => /^zookeeper-.*\.jar$/.test(file)));
  if (!hasJar) throw new Error(`ZOOKEEPER_HOME=${home} has no zookeeper-*.jar, neither there nor in lib/.\n${HELP}`);
  if (!works('java', '-version')) throw new Error(`ZOOKEEPER_HOME is set, but there is no java on the PATH.\n${HELP}`);
  // conf/ comes first: the logging configuration is searched for on the class path.
  const classPath = [join(home, 'conf'), join(home, '*'), join(home, 'lib', '*')].join(':');
  return { name: home, command: (plan) => javaCommand(classPath, plan) };
}

function debianDistribution(): ZooKeeperDistribution {
  // The jar's manifest names all that it needs except a logger, without which a failure would leave no trace.
  return {
    name: DEBIAN_JAR,
    command: (plan) => javaCommand([DEBIAN_JAR, DEBIAN_LOGGING, ...DEBIAN_NETTY].join(':'), plan),
  };
}

function javaCommand(classPath: string, plan: ServerPlan): ServerCommand {
  const small = ['-Xmx256m', '-XX:+UseSerialGC', '-XX:TieredStopAtLevel=1'];
  const flags = [...small, '-Dorg.slf4j.simpleLogger.defaultLogLevel=warn', ...defines(plan.systemProperties)];
  return {
    argv: ['java', ...flags, '-cp', classPath, MAIN_CLASS, join(plan.dir, 'zoo.cfg')],
    dataDir: join(plan.dir, 'data'),
    clientAddress: '127.0.0.1',
    clientPort: plan.port,
  };
}

function dockerDistribution(): ZooKeeperDistribution {
  return { name: `docker ${DOCKER_IMAGE}`, command: dockerCommand };
}

function dockerCommand(plan: ServerPlan): ServerCommand {
  const name = `zookeeper-${randomUUID()}`;
  const files = ['-v', `${join(plan.dir, 'zoo.cfg')}:/conf/zoo.cfg`, '-v', `${join(plan.dir, 'data')}:/data`];
  // Run as the user who runs the tests: files that the server writes must be removable afterwards.
  const user = ['--user', `${process.getuid?.() ?? 0}:${process.getgid?.() ?? 0}`];
  const flags = ['-e', `SERVER_JVMFLAGS=${defines(plan.systemProperties).join(' ')}`];
  const publish = ['-p', `127.0.0.1:${plan.port}:2181`];
  return {
    argv: ['docker', 'run', '--rm', '--name', name, ...publish, ...user, ...files, ...flags, DOCKER_IMAGE],
    dataDir: '/data',
    clientAddress: '0.0.0.0',
    clientPort: 2181,
    signalArgv: (signal) => ['docker', 'kill', '--signal', signal, name],
  };
}

function defines(properties: Readonly<Record<string, string>>): string[] {
  return Object.entries(properties).map(([name, value]) => `-D${name}=${value}`);
}

function works(command: string, ...args: string[]): boolean {
  try {
    execFileSync(command, args, { stdio: 'ignore', timeout: 20_000 });
    return true;
  } catch {
    return false;
  }
}

function filesOf(dir: string): string[] {
  return existsSync(dir) ? readdirSync(dir) : [];
}
