import { randomUUID } from 'node:crypto';
import { get as getPlain } from 'node:http';
import { get as getOverTls } from 'node:https';
import type { LockBackend } from '../contract/lock-backend.js';
import { EtcdBackend } from '../etcd/etcd.backend.js';

/** The difference of the clock of a server from that of this machine. */
export interface ClockDifference {
  readonly server: string;
  /** In milliseconds, positive when the server is ahead. 0 as far as can be seen. `undefined`: it does not tell. */
  readonly offMs: number | undefined;
}

/** The clock of this machine, in milliseconds since 1970. */
type Clock = () => number;

/**
 * Compares the clocks of the servers with the one of this machine. Servers that stamp records are asked by a record,
 * which is removed; those of etcd by the date of an answer, which has whole seconds.
 * @throws LockUnavailableError, LockConfigurationError
 */
export async function clockDifferences(
  backend: LockBackend,
  now: Clock,
  withinMs: number,
): Promise<readonly ClockDifference[]> {
  if (backend instanceof EtcdBackend) {
    const { hosts, tls } = backend;
    return Promise.all(hosts.map((host) => byAnswer(host, tls, now, withinMs)));
  }
  if (backend.guarantees?.writtenAt !== 'server') return [{ server: backend.name, offMs: undefined }];
  return [{ server: 'the servers', offMs: await byRecord(backend, now) }];
}

async function byRecord({ records }: LockBackend, now: Clock): Promise<number> {
  const name = `doctor/${randomUUID()}`;
  const before = now();
  const write = await records.write([{ name, value: 'clock' }]);
  const after = now();
  const writtenAt = (write.isApplied && write.records[0]?.writtenAt.getTime()) || before;
  await records.write([{ name, value: undefined }]);
  return distance(writtenAt, writtenAt, before, after);
}

async function byAnswer(
  server: string,
  tls: EtcdBackend['tls'],
  now: Clock,
  withinMs: number,
): Promise<ClockDifference> {
  const before = now();
  const date = await dateOf(server, tls, withinMs);
  return { server, offMs: Number.isNaN(date) ? undefined : distance(date, date + 999, before, now()) };
}

/** Resolves with the date of an answer over HTTP, in milliseconds since 1970, or with NaN. Reads nothing else of it. */
function dateOf(server: string, tls: EtcdBackend['tls'], withinMs: number): Promise<number> {
  const options = { ...tls, agent: false, signal: AbortSignal.timeout(withinMs) };
  return new Promise((resolve) => {
    const request = tls
      ? getOverTls(`https://${server}/version`, options)
      : getPlain(`http://${server}/version`, options);
    request.on('error', () => resolve(Number.NaN));
    request.on('response', (response) => {
      resolve(Date.parse(response.headers.date ?? ''));
      response.destroy();
    });
  });
}

/** The distance of two spans of time, 0 where they overlap: the server's time may be any moment of its span. */
function distance(earliest: number, latest: number, before: number, after: number): number {
  if (latest < before) return latest - before;
  return Math.max(0, earliest - after);
}
