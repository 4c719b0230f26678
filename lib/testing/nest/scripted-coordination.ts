import type {
  Barriers,
  EnteredMember,
  CoordinationBackend,
  Queues,
  TakenItem,
} from '../../contract/coordination-backend.js';
import type { GrantedLease } from '../../contract/granted-lease.js';
import { reachable } from './reachable.js';

/** The access of queues and barriers to the scripted conditions. */
interface Surroundings {
  /** @throws the reason why the servers cannot be reached */
  assertReachable(): void;
  /** Called with every lease that the application gets. */
  own(lease: GrantedLease): void;
}

/** Returns queues, barriers and shared values under the conditions that a test scripts. */
export function scriptedCoordination(inner: CoordinationBackend, world: Surroundings): CoordinationBackend {
  const ask = <T extends object>(asked: T): T => reachable(asked, () => world.assertReachable());
  return {
    queues: ask(itemsOwned(inner.queues, world)),
    barriers: ask(membersOwned(inner.barriers, world)),
    cells: ask(inner.cells),
  };
}

function itemsOwned(queues: Queues, world: Surroundings): Queues {
  const owned = (item: TakenItem): TakenItem => {
    world.own(item.lease);
    const ack = async () => {
      world.assertReachable();
      await item.ack();
    };
    return { ...item, ack };
  };
  return {
    put: (request) => queues.put(request),
    take: async (request) => (await queues.take(request)).map(owned),
    size: (...of) => queues.size(...of),
  };
}

function membersOwned(barriers: Barriers, world: Surroundings): Barriers {
  const owned = (member: EnteredMember): EnteredMember => {
    world.own(member.lease);
    return member;
  };
  return {
    raise: (...to) => barriers.raise(...to),
    lift: (...to) => barriers.lift(...to),
    pass: (request) => barriers.pass(request),
    enter: async (request) => owned(await barriers.enter(request)),
  };
}
