import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { cpus, release, totalmem } from 'node:os';

/** The machine of a run. Absolute figures mean nothing without it. */
export interface Machine {
  readonly cpus: number;
  readonly cpu: string;
  readonly memoryGb: number;
  readonly kernel: string;
  /** The versions of everything that took part. */
  readonly versions: Readonly<Record<string, string>>;
}

const DEBIAN = [
  ['zookeeper', 'zookeeper'],
  ['curator', 'libcurator-recipes-java'],
  ['kazoo', 'python3-kazoo'],
  ['redis', 'redis-server'],
  ['etcd', 'etcd-server'],
] as const;
const NPM = ['redis-semaphore', 'redlock', 'ioredis', 'etcd3'];

export function machine(): Machine {
  const debian = DEBIAN.map(([name, from]) => [
    name,
    output('dpkg-query', '-W', '-f=${source:Upstream-Version}', from),
  ]);
  const npm = NPM.map((name) => [name, npmVersion(name)]);
  return {
    cpus: cpus().length,
    cpu: cpus()[0]?.model.trim() ?? 'unknown',
    memoryGb: Math.round(totalmem() / 2 ** 30),
    kernel: /^\d+\.\d+/.exec(release())?.[0] ?? release(),
    versions: Object.fromEntries([['node', process.version.slice(1)], ['java', javaVersion()], ...debian, ...npm]),
  };
}

function javaVersion(): string {
  return /"(.+?)"/.exec(output('java', '-version'))?.[1] ?? 'unknown';
}

function npmVersion(name: string): string {
  const { version } = JSON.parse(readFileSync(`bench/node_modules/${name}/package.json`, 'utf8')) as {
    version: string;
  };
  return version;
}

function output(program: string, ...args: string[]): string {
  const { stdout, stderr, status } = spawnSync(program, args, { encoding: 'utf8' });
  return status === 0 ? stdout + stderr : 'unknown';
}
