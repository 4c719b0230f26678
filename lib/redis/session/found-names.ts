import { FIND } from '../scripts/lock-scripts.js';
import type { QueueKind } from './redis-keys.js';
import type { RedisSession } from './redis-session.js';

const NAMES_AT_ONCE = 1_000;
/** A script blocks the server, so it looks at few wait queues. */
export const QUEUES_AT_ONCE = 20;

const NAME = /^(?:[hw]:(?<kind>lock|permits|election|put|take)|items):(?<key>.*)$/s;

/** A name that a scan has found. */
export interface FoundName {
  readonly key: string;
  /** The kind of its wait queue; `undefined` for a queue of items. */
  readonly kind: QueueKind | undefined;
}

/**
 * Finds wait queues and queues of items by a scan of the database, some at a time. A wait queue may be found twice.
 * @param pattern the pattern of the names, without what all names begin with
 * @throws SessionEndedError, RefusedError, `signal.reason`
 */
export async function* foundNames(
  session: Pick<RedisSession, 'keys' | 'run'>,
  pattern: string,
  signal: AbortSignal,
): AsyncGenerator<readonly FoundName[], void> {
  const { prefix } = session.keys;
  let cursor = '0';
  do {
    const answer = await session.run(FIND, [], [cursor, `${globOf(prefix)}${pattern}`, NAMES_AT_ONCE], { signal });
    const [, next, names] = answer as unknown as [string, string, string[]];
    cursor = next;
    yield names.flatMap((name): readonly FoundName[] => {
      const { kind, key } = NAME.exec(name.slice(prefix.length))?.groups ?? {};
      return key === undefined ? [] : [{ key, kind: kind as QueueKind | undefined }];
    });
  } while (cursor !== '0');
}

/** The text as a pattern that matches it alone. */
export function globOf(text: string): string {
  return text.replace(/[*?[\]\\^]/g, '\\$&');
}
