import { randomUUID } from 'node:crypto';
import { LockConfigurationError, LockError } from '../contract/errors.js';
import { ZooKeeperBackend } from '../zookeeper/zookeeper.backend.js';
import { serverVersions } from './server-versions.js';
import type { Cluster } from './cluster.js';
import { onCluster } from './cluster.js';
import type { ClusterOptions } from './cluster.options.js';
import { jsonText, tableText } from './command-io.js';
import type { CommandIo } from './command-io.js';

/** The result of one check. `change` says what to change; a finding that is in order has none. */
interface Finding {
  readonly check: string;
  /** `unknown`: it cannot be seen from here. */
  readonly result: 'ok' | 'wrong' | 'unknown';
  readonly found: string;
  readonly change?: string | undefined;
}

/** Clocks that differ by more make the ages of holders misleading, and let one instance run all jobs. */
const FAR_OFF_MS = 1_000;

const CHECKS = [session, chroot, rights, clock, durability, versions] as const;

/**
 * Looks for what operators get wrong. The exit code is 1 when there is something to change.
 * @throws LockUnavailableError
 */
export async function doctor(options: ClusterOptions, io: CommandIo): Promise<number> {
  const findings = await onCluster(options, (cluster) => examined(cluster, options)).catch(refusal);
  if (options.isJson) io.out(jsonText(findings));
  else {
    const rows = findings.map(({ check, result, found }) => [result, check, found]);
    io.out(tableText(['RESULT', 'CHECK', 'FOUND'], rows));
    const changes = findings.flatMap(({ check, change }) => (change === undefined ? [] : [[check, change]]));
    if (changes.length > 0) io.out(`\n${tableText(['CHECK', 'CHANGE'], changes)}`);
  }
  return findings.some(({ result }) => result === 'wrong') ? 1 : 0;
}

async function examined(cluster: Cluster, options: ClusterOptions): Promise<readonly Finding[]> {
  const findings: Finding[] = [ok('connection', cluster.lines.log[0] ?? `connected to ${cluster.backend.name}`)];
  // The chroot is looked for before the check of the rights creates it.
  for (const check of CHECKS) findings.push(...(await check(cluster, options)));
  return findings;
}

/** The finding of a server that the backend refuses, or that refuses this client. */
function refusal(error: unknown): readonly Finding[] {
  if (!(error instanceof LockConfigurationError)) throw error;
  return [wrong('server', 'the server cannot be used as it is', error.message)];
}

/** The warnings that the backend logs itself: the granted session timeout, replicas, compaction, old versions. */
async function session({ backend, lines }: Cluster, { sessionTimeoutMs }: ClusterOptions): Promise<readonly Finding[]> {
  const granted = backend.lockedAfterDeathMs;
  const timeout = ok('session timeout', `${granted} ms, as asked for`);
  const others = lines.warn.map((line) => wrong('server', 'the backend warns', line));
  if (granted === undefined || granted === sessionTimeoutMs) return [timeout, ...others];
  const found = `${granted} ms granted, ${sessionTimeoutMs} ms asked for`;
  const change =
    lines.warn.find((line) => line.includes('sessionTimeoutMs')) ?? 'ask for a timeout that the servers allow';
  return [wrong('session timeout', found, change), ...others.filter((one) => one.change !== change)];
}

async function chroot({ backend }: Cluster): Promise<readonly Finding[]> {
  if (!(backend instanceof ZooKeeperBackend)) return [];
  const missing = await backend.missingChroot();
  if (missing === undefined) return [ok('chroot', 'exists, or there is none')];
  const change = `create the znode ${missing}, or correct the path at the end of --connect: other processes may use another one`;
  return [wrong('chroot', `${missing} does not exist`, change)];
}

/** A lock and a record are written below the base path, and removed. */
async function rights({ backend, locks }: Cluster): Promise<readonly Finding[]> {
  const name = `doctor/${randomUUID()}`;
  try {
    const lease = await locks.acquire(name, { label: 'doctor' });
    await lease.release();
    await backend.records.write([{ name, value: 'doctor' }]);
    await backend.records.write([{ name, value: undefined }]);
    return [ok('rights', 'a lock and a record were written below the base path, and removed')];
  } catch (error) {
    if (!(error instanceof LockError) || error.code === 'LOCK_UNAVAILABLE') throw error;
    return [wrong('rights', 'this user may not write below the base path', error.message)];
  }
}

async function clock({ backend }: Cluster): Promise<readonly Finding[]> {
  if (backend.guarantees?.writtenAt !== 'server') {
    return [unknown('clock', `${backend.name} does not tell the time of its servers`)];
  }
  const name = `doctor/${randomUUID()}`;
  try {
    const before = Date.now();
    const write = await backend.records.write([{ name, value: 'clock' }]);
    const after = Date.now();
    const writtenAt = (write.isApplied && write.records[0]?.writtenAt.getTime()) || before;
    await backend.records.write([{ name, value: undefined }]);
    // The time of the request may be on either side of it.
    const off = writtenAt < before ? writtenAt - before : Math.max(0, writtenAt - after);
    const found = `the servers' clock is ${Math.abs(off)} ms ${off < 0 ? 'behind' : 'ahead of'} this one`;
    if (Math.abs(off) < FAR_OFF_MS) return [ok('clock', `the servers' clock differs by less than a second`)];
    const change =
      'let the servers and this machine take their time from NTP: ages are wrong, and jobs run at other times';
    return [wrong('clock', found, change)];
  } catch (error) {
    if (!(error instanceof LockConfigurationError)) throw error;
    return [unknown('clock', 'nothing can be written')];
  }
}

async function durability({ backend }: Cluster): Promise<readonly Finding[]> {
  const { records = 'durable', advice = [] } = backend.guarantees ?? {};
  if (advice.length === 0) return [ok('durability', `records and queues: ${records}`)];
  return advice.map((change) => wrong('durability', `records and queues: ${records}`, change));
}

async function versions({ backend }: Cluster, options: ClusterOptions): Promise<readonly Finding[]> {
  if (!(backend instanceof ZooKeeperBackend) || options.tls) return [];
  const answers = await serverVersions(backend.servers, options.connectTimeoutMs);
  const limit = unknown(
    'jute.maxbuffer',
    'the servers do not tell it; requests of over 1 MB need it on servers and clients',
  );
  return [...answers.map(({ server, version }) => versionOf(server, version)), limit];
}

function versionOf(server: string, version: string | undefined): Finding {
  if (version === undefined) return unknown('version', `${server} does not answer "srvr" (4lw.commands.whitelist)`);
  const [major = 0, minor = 0] = version.split('.').map(Number);
  const isOld = major < 3 || (major === 3 && minor < 5);
  if (!isOld) return ok('version', `${server} has ${version}`);
  return wrong(
    'version',
    `${server} has ${version}`,
    'upgrade to 3.5 or later: older servers have no container znodes',
  );
}

function ok(check: string, found: string): Finding {
  return { check, result: 'ok', found };
}

function unknown(check: string, found: string): Finding {
  return { check, result: 'unknown', found };
}

function wrong(check: string, found: string, change: string): Finding {
  return { check, result: 'wrong', found, change };
}
