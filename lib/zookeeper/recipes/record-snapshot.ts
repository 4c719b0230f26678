/**
 * Several records as they were at one moment: each is read twice, and all for the first time before any for the second,
 * in one round trip. Those that are the same both times were all as they are in between. (A record that was not there
 * both times counts as not there in between.)
 * Source: the double collect of atomic snapshots.
 */
import type { Session } from '../session/session.js';
import { lookAt } from './record-node.js';
import type { Sight } from './record-node.js';

export async function lookAtOnce(
  session: Pick<Session, 'requests' | 'persistently'>,
  paths: readonly string[],
  signal: AbortSignal,
): Promise<readonly Sight[]> {
  const { requests } = session;
  const lookAtAll = () => Promise.all(paths.map((path) => lookAt(requests, path)));
  for (;;) {
    // A session's requests are answered in their order; behind the sync they see what was written before the call.
    const looks = () => Promise.all([requests.sync(paths[0] ?? '/'), lookAtAll(), lookAtAll()]);
    const [, before, after] = await session.persistently(looks, signal);
    if (after.every(({ mzxid }, place) => mzxid === before[place]?.mzxid)) return after;
  }
}
