import type { Contender } from '../../contract/contender.js';
import { markedNumber, PERMIT_MARK, SEMAPHORE_PARTS, contenderId, contenderOwner } from './contender-znode.js';
import type { Session } from '../session/session.js';
import { childrenOf, present, seen } from './contender-listing.js';
import type { FirstContenders, SeenNode } from './contender-listing.js';
import { WaitQueueSnapshot } from './wait-queue-snapshot.js';

type Asked = Pick<Session, 'id' | 'requests' | 'persistently'>;

/** The permits of one acquisition. They are created in one transaction. */
interface PermitGroup {
  readonly nodes: readonly SeenNode[];
  readonly first: SeenNode;
}

/**
 * The acquisitions that hold permits of the semaphore at this path, then the contenders at its gate, in order.
 * @param most the number of permits to look at, the oldest first; with it, only the first contender at the gate is read
 */
export async function semaphoreIn(
  session: Asked,
  path: string,
  signal: AbortSignal,
  most = Infinity,
): Promise<Contender[]> {
  return describedIn(
    session,
    await lookAt(session, path, signal, { permits: most, gate: most === Infinity ? most : 1 }),
  );
}

// A group is known when all its permits were read. More permits than this are counted as one holder each.
const MOST_PERMITS_READ = 100;

/**
 * The first acquisitions that hold permits, the first contenders at the gate, and the numbers of all of them.
 * `undefined` when there is none.
 * @param most the number of holders, and of waiting contenders, to read
 */
export async function firstOfSemaphore(
  session: Asked,
  path: string,
  most: number,
  signal: AbortSignal,
): Promise<FirstContenders | undefined> {
  const look = await lookAt(session, path, signal, { permits: MOST_PERMITS_READ, gate: Math.max(1, most) });
  const found = describedIn(session, look);
  if (found.length === 0) return undefined;
  const [holders, waiters] = (['held', 'waiting'] as const).map((state) => found.filter((one) => one.state === state));
  const holding = look.holding.length + look.unread;
  return {
    holders: holders?.slice(0, most) ?? [],
    holding,
    waiters: waiters?.slice(0, most) ?? [],
    waiting: look.atGate,
  };
}

function describedIn(session: Asked, { gate, holding, waiting }: Awaited<ReturnType<typeof lookAt>>): Contender[] {
  const state = (held: boolean) => ({ state: held ? 'held' : 'waiting', mode: 'permit', isLocal: false }) as const;
  const holders = holding.map(({ first, nodes }): Contender => {
    return { ...seen(first, session.id), ...state(true), permits: nodes.length };
  });
  const atGate = gate.map((node, place): Contender => {
    return { ...seen(node, session.id), ...state(false), permits: place === 0 ? waiting?.nodes.length : undefined };
  });
  return [...holders, ...atGate];
}

/** The znodes of the permits that are held. */
export async function heldPermits(session: Asked, path: string, signal: AbortSignal): Promise<string[]> {
  const { holding } = await lookAt(session, path, signal);
  return holding.flatMap(({ nodes }) => nodes.map((node) => node.path));
}

/** The maximum number of permits, and of contenders at the gate, to read. */
interface Most {
  readonly permits: number;
  readonly gate: number;
}

const ALL: Most = { permits: Infinity, gate: Infinity };

async function lookAt(session: Asked, path: string, signal: AbortSignal, most = ALL) {
  const [atGate, permits] = await Promise.all([
    childrenOf(session, `${path}/${GATE}`, signal),
    childrenOf(session, `${path}/${PERMITS}`, signal),
  ]);
  const { inOrder } = new WaitQueueSnapshot(atGate);
  const contenders = inOrder.slice(0, most.gate).map(({ name }) => `${path}/${GATE}/${name}`);
  const inTurn = permitsInOrder(permits);
  const taken = inTurn.slice(0, most.permits).map((name) => `${path}/${PERMITS}/${name}`);
  const [gate, nodes] = await Promise.all([present(session, contenders, signal), present(session, taken, signal)]);
  const groups = grouped(nodes);
  const waiting = groups.findLast((group) => isOfFirst(group, gate[0]));
  const holding = groups.filter((group) => group !== waiting);
  return { gate, waiting, holding, atGate: inOrder.length, unread: inTurn.length - taken.length };
}

function permitsInOrder(names: readonly string[]): string[] {
  const numbered = names.flatMap((name) => {
    const number = permitNumber(name);
    return number === undefined ? [] : [{ name, number }];
  });
  return numbered.sort((a, b) => a.number - b.number).map(({ name }) => name);
}

/** The permits grouped by transaction, in the order in which they were created. */
function grouped(nodes: readonly SeenNode[]): PermitGroup[] {
  const groups = new Map<bigint, [SeenNode, ...SeenNode[]]>();
  for (const node of nodes) {
    const group = groups.get(node.stat.czxid);
    if (group) group.push(node);
    else groups.set(node.stat.czxid, [node]);
  }
  const inOrder = [...groups].sort(([a], [b]) => (a < b ? -1 : 1));
  return inOrder.map(([, own]) => ({ first: own[0], nodes: own }));
}

/**
 * Whether the first contender at the gate has created these permits, and still waits to hold them. Our permits name
 * their contender at the gate. Curator's permits are only known to be created after theirs.
 */
function isOfFirst({ first }: PermitGroup, gate: SeenNode | undefined): boolean {
  if (!gate) return false;
  if (contenderOwner(gate.data).pid !== undefined) return contenderId(first.data) === gate.name;
  return first.stat.ephemeralOwner === gate.stat.ephemeralOwner && first.stat.czxid > gate.stat.czxid;
}

/**
 * The names in a semaphore's directories. Pure.
 *
 * `<path>/leases` has one znode per permit, `_c_<uuid>-lease-0000000007`, as Curator's InterProcessSemaphoreV2 writes
 * them. Any other name there is not a permit and takes none. Permits are not contenders of a lock: they have no order.
 */

export const { gate: GATE, permits: PERMITS, count: COUNT } = SEMAPHORE_PARTS;

const MARKS = [PERMIT_MARK] as const;

/** The number that the parent assigned to a permit. `undefined` for a name that is not a permit's. */
export function permitNumber(name: string): number | undefined {
  return markedNumber(name, MARKS)?.number;
}

/** The number of permits that are taken. */
export function countPermits(names: readonly string[]): number {
  return names.filter((name) => permitNumber(name) !== undefined).length;
}
