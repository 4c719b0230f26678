import type { Contender } from '../../contract/contender.js';
import { countHolders, present, seen } from '../recipes/contender-listing.js';
import type { FirstContenders } from '../recipes/contender-listing.js';
import { WaitQueueSnapshot } from '../recipes/wait-queue-snapshot.js';
import type { Session } from '../session/session.js';
import { candidateIn, profilePath } from './candidacy.js';

type Asked = Pick<Session, 'id' | 'requests' | 'persistently'>;

/**
 * The leader and the next candidates among the children of an election's directory. `undefined` when none of those that
 * were listed exists any more.
 * @param most the number of candidates to read that wait
 */
export async function firstCandidates(
  session: Asked,
  { path, names }: { readonly path: string; readonly names: readonly string[] },
  most: number,
  signal: AbortSignal,
): Promise<FirstContenders | undefined> {
  const snapshot = new WaitQueueSnapshot(names, 'candidates');
  const holding = countHolders(snapshot);
  const { inOrder } = snapshot;
  const first = inOrder.slice(0, holding + most);
  const nodes = await present(
    session,
    first.map(({ name }) => `${path}/${name}`),
    signal,
  );
  if (nodes.length === 0) return undefined;
  const profiles = nodes.map(({ name }) => profilePath(path, name)).filter((at) => at !== undefined);
  const owners = new Map(
    (await present(session, profiles, signal)).map(({ path: at, data }) => [at, candidateIn(data)]),
  );
  const leaders = new Set(inOrder.slice(0, holding).map(({ name }) => name));
  const candidates = nodes.map((node): Contender => {
    const { owner } = owners.get(profilePath(path, node.name) ?? '') ?? { owner: { label: node.data.toString() } };
    const state = leaders.has(node.name) ? 'held' : 'waiting';
    return { ...seen(node, session.id), owner, isKept: false, state, mode: 'exclusive', isLocal: false };
  });
  return {
    holders: candidates.filter(({ state }) => state === 'held'),
    holding,
    waiters: candidates.filter(({ state }) => state === 'waiting'),
    waiting: inOrder.length - holding,
  };
}
