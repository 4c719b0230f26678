import { randomUUID } from 'node:crypto';
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
    const { hosts, isOverTls } = backend;
    return Promise.all(
      hosts.map((host) => byAnswer(`${isOverTls ? 'https' : 'http'}://${host}/version`, now, withinMs)),
    );
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

async function byAnswer(url: string, now: Clock, withinMs: number): Promise<ClockDifference> {
  const server = new URL(url).host;
  const before = now();
  const response = await fetch(url, { signal: AbortSignal.timeout(withinMs) }).catch(() => undefined);
  const date = Date.parse(response?.headers.get('date') ?? '');
  // The date has been read: an end of the answer that fails, such as an abort, changes nothing.
  await response?.body?.cancel().catch(() => {});
  if (Number.isNaN(date)) return { server, offMs: undefined };
  return { server, offMs: distance(date, date + 999, before, now()) };
}

/** The distance of two spans of time, 0 where they overlap: the server's time may be any moment of its span. */
function distance(earliest: number, latest: number, before: number, after: number): number {
  if (latest < before) return latest - before;
  return Math.max(0, earliest - after);
}
