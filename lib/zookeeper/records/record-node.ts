/**
 * A record as a znode: the value in UTF-8, then a byte that UTF-8 does not have, then the id of the write. The id shows
 * which write a value is from, when two might have written it. After a lost reply nothing else does. A znode without
 * that byte holds no record: it is a directory above others.
 */
import { isKeeperError } from '../session/requests.js';
import type { Requests } from '../session/requests.js';
import type { Session } from '../session/session.js';

const END_OF_VALUE = 0xff;

/** The data of a znode that holds no record. */
export const DIRECTORY: Buffer = Buffer.alloc(0);

/** The state that was seen at the path of a record. */
export interface Sight {
  /** The version of the znode's data. `undefined` when there is no znode. */
  readonly version: number | undefined;
  readonly hasChildren: boolean;
  /** The zxid of the write that the data is from. No other write has it. */
  readonly mzxid: bigint | undefined;
  /** `undefined` when there is no record. */
  readonly record: SeenRecord | undefined;
}

interface SeenRecord {
  readonly value: string;
  readonly writeId: string;
  readonly version: number;
  readonly writtenAt: Date;
}

const NOTHING: Sight = { version: undefined, mzxid: undefined, hasChildren: false, record: undefined };

export function recordData(value: string, writeId: string): Buffer {
  return Buffer.concat([Buffer.from(value), Buffer.of(END_OF_VALUE), Buffer.from(writeId)]);
}

export async function lookAt(requests: Pick<Requests, 'read'>, path: string): Promise<Sight> {
  try {
    const { data, stat } = await requests.read(path);
    const { version, mzxid, numChildren } = stat;
    const end = data.indexOf(END_OF_VALUE);
    const [value, writeId] = [data.toString('utf8', 0, end), data.toString('utf8', end + 1)];
    const record = end < 0 ? undefined : { value, writeId, version, writtenAt: new Date(Number(stat.mtime)) };
    return { version, mzxid, hasChildren: numChildren > 0, record };
  } catch (error) {
    if (isKeeperError(error, 'noNode')) return NOTHING;
    throw error;
  }
}

/**
 * Several records as they were at one moment. Each is read twice, in one round trip. All are read once before any is
 * read again. When none has changed between its two reads, all were like that at one moment in between. A record that
 * did not exist either time counts as not existing in between.
 * Source: the double collect of atomic snapshots.
 */
export async function lookAtOnce(
  session: Pick<Session, 'requests' | 'persistently'>,
  paths: readonly string[],
  signal: AbortSignal,
): Promise<readonly Sight[]> {
  const { requests } = session;
  const lookAtAll = () => Promise.all(paths.map((path) => lookAt(requests, path)));
  for (;;) {
    // A session's requests are answered in order. Behind the sync they see what was written before the call.
    const looks = () => Promise.all([requests.sync(paths[0] ?? '/'), lookAtAll(), lookAtAll()]);
    const [, before, after] = await session.persistently(looks, signal);
    if (after.every(({ mzxid }, place) => mzxid === before[place]?.mzxid)) return after;
  }
}
