import type { Contender } from '../../contract/contender.js';
import type { Session } from '../session/session.js';
import { contenderOwner } from './contender-data.js';
import { Lineup } from './lineup.js';
import { noneWithout } from './none-without.js';
import { standingOf } from './standing.js';
import type { Standing } from './standing.js';

type Asked = Pick<Session, 'id' | 'requests' | 'persistently'>;

const MODES = { lock: 'exclusive', read: 'read', write: 'write', latch: 'exclusive' } as const;

/** Who stands in the line of a directory, in order. Whoever leaves while it is asked about is left out. */
export async function lineIn(session: Asked, path: string, signal: AbortSignal): Promise<Contender[]> {
  const ask = <T>(request: () => Promise<T>) => session.persistently(request, signal);
  const names = await ask(() => session.requests.children(path)).catch(noneWithout([]));
  const lineup = new Lineup(names);
  const asked = lineup.inOrder.map(async ({ name }): Promise<Contender | undefined> => {
    const found = await ask(() => session.requests.read(`${path}/${name}`)).catch(noneWithout(undefined));
    const standing = standingOf(name);
    return found && standing && { ...seen(found, session.id), ...placed(standing, lineup) };
  });
  return (await Promise.all(asked)).filter((contender) => contender !== undefined);
}

function placed({ name, kind }: Standing, lineup: Lineup): Pick<Contender, 'state' | 'mode' | 'isLocal'> {
  return { state: lineup.ahead(name, 1).length === 0 ? 'held' : 'waiting', mode: MODES[kind], isLocal: false };
}

function seen({ data, stat }: Awaited<ReturnType<Session['requests']['read']>>, sessionId: bigint) {
  const { isKept, ...owner } = contenderOwner(data);
  return { owner, isKept, since: new Date(Number(stat.ctime)), isOwn: stat.ephemeralOwner === sessionId };
}
