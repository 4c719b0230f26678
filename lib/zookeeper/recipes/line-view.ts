import type { Contender } from '../../contract/contender.js';
import type { Stat } from '../session/requests.js';
import type { Session } from '../session/session.js';
import { unlessMissing } from '../session/watch.js';
import { contenderOwner } from './contender-data.js';
import { Lineup } from './lineup.js';
import { standingOf } from './standing.js';
import type { Standing } from './standing.js';

type Asked = Pick<Session, 'id' | 'requests' | 'persistently'>;

/** A znode as it was seen. */
export interface SeenNode {
  readonly path: string;
  readonly name: string;
  readonly data: Buffer;
  readonly stat: Stat;
}

const MODES = { lock: 'exclusive', read: 'read', write: 'write', latch: 'exclusive' } as const;

/** Who stands in the line of a directory, in order. Whoever leaves while it is asked about is left out. */
export async function lineIn(session: Asked, path: string, signal: AbortSignal): Promise<Contender[]> {
  const lineup = new Lineup(await childrenOf(session, path, signal));
  const paths = lineup.inOrder.map(({ name }) => `${path}/${name}`);
  return (await present(session, paths, signal)).flatMap((node) => {
    const standing = standingOf(node.name);
    return standing ? [{ ...seen(node, session.id), ...placed(standing, lineup) }] : [];
  });
}

/** The znodes of those in the line of a directory whose turn it is. */
export async function holdersIn(session: Asked, path: string, signal: AbortSignal): Promise<string[]> {
  const lineup = new Lineup(await childrenOf(session, path, signal));
  const holders = lineup.inOrder.filter(({ name }) => lineup.ahead(name, 1).length === 0);
  return holders.map(({ name }) => `${path}/${name}`);
}

/** Nobody where there is no such directory. */
export async function childrenOf(session: Asked, path: string, signal: AbortSignal): Promise<readonly string[]> {
  return unlessMissing(
    session.persistently(() => session.requests.children(path), signal),
    [],
  );
}

/** Those of the znodes that are there. */
export async function present(session: Asked, paths: readonly string[], signal: AbortSignal): Promise<SeenNode[]> {
  const read = (path: string) => session.persistently(() => session.requests.read(path), signal);
  const asked = paths.map(async (path) => {
    const found = await unlessMissing(read(path), undefined);
    return found && { ...found, path, name: path.slice(path.lastIndexOf('/') + 1) };
  });
  return (await Promise.all(asked)).filter((node) => node !== undefined);
}

/** What a contender's znode tells about it. */
export function seen({ data, stat }: SeenNode, sessionId: bigint) {
  const { isKept, ...owner } = contenderOwner(data);
  return { owner, isKept, since: new Date(Number(stat.ctime)), isOwn: stat.ephemeralOwner === sessionId };
}

function placed({ name, kind }: Standing, lineup: Lineup): Pick<Contender, 'state' | 'mode' | 'isLocal'> {
  return { state: lineup.ahead(name, 1).length === 0 ? 'held' : 'waiting', mode: MODES[kind], isLocal: false };
}
