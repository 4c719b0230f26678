import type { EtcdSession } from '../session/etcd-session.js';
import { entryOf, entryText } from './entry.js';
import type { Entry, EntryValue } from './entry.js';

/**
 * Writes an entry again, in its place. Changes that others have made to it meanwhile are kept. Returns the entry as it
 * is now, or `undefined` when it is gone.
 * @throws SessionEndedError, RefusedError, `signal.reason`
 */
export async function rewrite(
  session: EtcdSession,
  entry: Entry,
  change: Partial<EntryValue>,
  signal?: AbortSignal,
): Promise<Entry | undefined> {
  let present = entry;
  for (;;) {
    const { key, created, modified } = present;
    const answer = await session.change(
      {
        about: [key],
        compare: [{ key, property: 'modified', is: 'equal', than: modified }],
        success: [{ kind: 'put', key, value: entryText({ ...present, ...change }), lease: 'same' }],
        failure: [{ kind: 'read', key }],
      },
      signal ? { signal } : {},
    );
    if (answer.isMet) return { ...present, ...change, modified: answer.revision };
    const [result] = answer.results;
    const found = result?.kind === 'read' ? result.found[0] : undefined;
    if (found?.created !== created) return undefined;
    present = entryOf(found, present.isBare);
  }
}
