import { randomUUID } from 'node:crypto';
import { pause } from '../async/timer.js';
import { LockConfigurationError, LockError } from '../contract/errors.js';
import type { LockBackend } from '../contract/lock-backend.js';
import { RedisBackend } from '../redis/redis.backend.js';
import { ZooKeeperBackend } from '../zookeeper/zookeeper.backend.js';
import type { Cluster } from './cluster.js';
import { onCluster } from './cluster.js';
import type { ClusterOptions } from './cluster.options.js';
import { durationText, escaped, jsonText, tableText } from './command-io.js';
import type { CommandIo } from './command-io.js';
import { clockDifferences } from './server-clock.js';
import { accepts, versionOf } from './zookeeper-servers.js';
import type { AskedServer } from './zookeeper-servers.js';

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

/** No server works with less. */
const SMALLEST_LIMIT = 1_023;

/** The line of a server that has just started or taken over. It passes: there is nothing to change. */
const IS_NEW = /it grants free keys in \d+ ms$/;

/** The warnings of the backend come last: some are the answers to questions that it asks in the background. */
const CHECKS = [durability, zooKeeperServers, session] as const;

/** These leave the chroot behind that they write below. */
const WRITING = { rights, clock } as const;

/**
 * Looks for what operators get wrong. The exit code is 1 when there is something to change.
 * @throws LockUnavailableError
 */
export async function doctor(options: ClusterOptions, io: CommandIo): Promise<number> {
  const findings = await onCluster(options, (cluster) => examined(cluster, options, io)).catch(refusal);
  if (options.isJson) io.out(jsonText(findings));
  else {
    const rows = findings.map(({ check, result, found }) => [result, check, found]);
    io.out(tableText(['RESULT', 'CHECK', 'FOUND'], rows));
    const changes = findings.flatMap(({ check, change }) => (change === undefined ? [] : [[check, change]]));
    if (changes.length > 0) io.out(`\n${tableText(['CHECK', 'CHANGE'], changes, escaped)}`);
  }
  return findings.some(({ result }) => result === 'wrong') ? 1 : 0;
}

async function examined(cluster: Cluster, options: ClusterOptions, io: CommandIo): Promise<readonly Finding[]> {
  const findings: Finding[] = [ok('connection', cluster.lines.log[0] ?? `connected to ${cluster.backend.name}`)];
  const chroots = await chroot(cluster);
  findings.push(...chroots);
  // A check that created the missing chroot would hide it from the next look, and from the operator.
  const isMissing = chroots.some(({ result }) => result === 'wrong');
  for (const [name, check] of Object.entries(WRITING)) {
    if (isMissing) findings.push(unknown(name, 'it is looked at by writing, which would create the chroot'));
    else findings.push(...(await check(cluster, options, io)));
  }
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
  const others = lines.warn.map((line) =>
    IS_NEW.test(line) ? ok('server', line) : wrong('server', 'the backend warns', line),
  );
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
async function rights(
  { backend, locks }: Cluster,
  { connectTimeoutMs }: ClusterOptions,
  io: CommandIo,
): Promise<readonly Finding[]> {
  const name = `doctor/${randomUUID()}`;
  try {
    await backend.records.write([{ name, value: 'doctor' }]);
    await backend.records.write([{ name, value: undefined }]);
    const waitMs = settlingMs(backend);
    if (waitMs > connectTimeoutMs) return [settling(backend)];
    // The signal is read for a wait only: from then on it takes the place of the end of the process.
    if (waitMs > 0) await pause(waitMs, io.signal);
    const lease = await locks.acquire(name, { label: 'doctor' });
    await lease.release();
    return [ok('rights', 'a lock and a record were written below the base path, and removed')];
  } catch (error) {
    if (!(error instanceof LockError)) throw error;
    if (error.code !== 'LOCK_UNAVAILABLE')
      return [wrong('rights', 'this user may not write below the base path', error.message)];
    // A server that took the place of the other one meanwhile does answer, and grants nothing yet.
    if (backend.state === 'connected' && settlingMs(backend) > 0) return [settling(backend)];
    throw error;
  }
}

/** The time for which a server that is new grants no free key. */
function settlingMs(backend: LockBackend): number {
  return backend instanceof RedisBackend ? backend.settlingMs : 0;
}

function settling(backend: LockBackend): Finding {
  const found = `a record was written and removed; the server is new, and grants keys in ${settlingMs(backend)} ms`;
  return unknown('rights', found);
}

async function clock(
  { backend }: Cluster,
  { connectTimeoutMs }: ClusterOptions,
  io: CommandIo,
): Promise<readonly Finding[]> {
  try {
    const differences = await clockDifferences(backend, () => io.now(), connectTimeoutMs);
    return differences.map(({ server, offMs }) => clockOf(server, offMs));
  } catch (error) {
    if (!(error instanceof LockConfigurationError)) throw error;
    return [unknown('clock', 'nothing can be written')];
  }
}

function clockOf(server: string, offMs: number | undefined): Finding {
  if (offMs === undefined) return unknown('clock', `${server} does not tell its time`);
  if (Math.abs(offMs) < FAR_OFF_MS) return ok('clock', `${server}: less than a second from the clock of this machine`);
  const size = `${durationText(Math.abs(offMs))} (${Math.abs(offMs)} ms) ${offMs < 0 ? 'behind' : 'ahead of'}`;
  const change =
    'let the servers and this machine take their time from NTP: ages are wrong, and jobs run at other times';
  return wrong('clock', `${server}: ${size} the clock of this machine`, change);
}

async function durability({ backend }: Cluster): Promise<readonly Finding[]> {
  const { records = 'durable', advice = [] } = backend.guarantees ?? {};
  if (advice.length === 0) return [ok('durability', `records and queues: ${records}`)];
  return advice.map((change) => wrong('durability', `records and queues: ${records}`, change));
}

/** Asks each server on connections of its own. */
async function zooKeeperServers({ backend }: Cluster, options: ClusterOptions): Promise<readonly Finding[]> {
  if (!(backend instanceof ZooKeeperBackend)) return [];
  const { tls, connectTimeoutMs } = options;
  const findings = backend.servers.map(async (address) => {
    const server = { ...address, tls: tls === true ? {} : tls || undefined };
    return Promise.all([
      version(server, connectTimeoutMs),
      requestSize(server, backend.largestRequestBytes, connectTimeoutMs),
    ]);
  });
  return (await Promise.all(findings)).flat();
}

async function version(server: AskedServer, withinMs: number): Promise<Finding> {
  return versionFinding(nameOf(server), await versionOf(server, withinMs));
}

async function requestSize(server: AskedServer, wanted: number, withinMs: number): Promise<Finding> {
  const check = 'jute.maxbuffer';
  const isEnough = await accepts(server, wanted, withinMs);
  if (isEnough) return ok(check, `${nameOf(server)} accepts requests of ${wanted} bytes, the largest there are`);
  const change = `start the server with -Djute.maxbuffer=${wanted} or more: a line in zoo.cfg does not set it`;
  if (isEnough === undefined) {
    const found = `${nameOf(server)} does not show which requests it refuses`;
    return { ...unknown(check, found), change: `if it is set at all: ${change}` };
  }
  const least = await largestAccepted(server, wanted, withinMs);
  const instead = least === undefined ? '' : `, and accepts ${least}`;
  return wrong(check, `${nameOf(server)} refuses requests of ${wanted} bytes${instead}`, change);
}

/** Returns a size that the server accepts, of at least half its limit. */
async function largestAccepted(server: AskedServer, refused: number, withinMs: number): Promise<number | undefined> {
  for (let bytes = refused >> 1; bytes >= SMALLEST_LIMIT; bytes >>= 1) {
    if (await accepts(server, bytes, withinMs)) return bytes;
  }
  return undefined;
}

function nameOf({ host, port }: AskedServer): string {
  return `${host}:${port}`;
}

function versionFinding(server: string, version: string | undefined): Finding {
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
