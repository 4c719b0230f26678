import type { Attempt } from '../../robustness/model/history.js';
import { byKey } from '../../../lib/testing/backend-faults/fault-history.js';
import type { Finding } from '../../robustness/validate/finding.js';
import type { SimulationHistory } from '../model/history.js';
import { CROWD_KEY, OWN_CROWD_KEY } from '../traffic/keys.js';
import { Trouble } from './trouble.js';

type Judged = Pick<SimulationHistory, 'attempts' | 'calls' | 'faults' | 'contenders'>;

/** Time limits in simulated milliseconds, and properties of the processes. */
export interface CrowdLimits {
  readonly calmMs: number;
  /** Whether callers of one process share a contender. */
  readonly isShared?: boolean | undefined;
}

/** A try, the one that follows it, and a caller that waits. */
const MOST_CONTENDERS = 3;
/** The time after which every process knows that no server is there. */
const KNOWN_AFTER_MS = 2_000;

/** Checks callers of one process that ask in one turn: see the program `crowd`. */
export function checkCrowds(history: Judged, { calmMs, isShared = false }: CrowdLimits): Finding[] {
  const trouble = new Trouble(history);
  const isCalm = (crowd: readonly Attempt[]) => trouble.isCalm(begin(crowd), end(crowd), calmMs);
  const own = crowdsOf(history.attempts.filter(({ keys: [key = ''] }) => key.startsWith(`${OWN_CROWD_KEY}/`)));
  const waiters = crowdsOf(history.attempts.filter(({ keys: [key = ''] }) => key === CROWD_KEY));
  const madeBy = byKey(history.contenders.map((one) => ({ ...one, key: ownKeyOf(one.key) })));
  const made = new Map(madeBy.map((group) => [group[0]!.key, group]));
  const madeFor = (crowd: readonly Attempt[]) =>
    (made.get(crowd[0]!.keys[0]!) ?? []).filter(({ madeAt = 0 }) => madeAt >= begin(crowd) && madeAt <= end(crowd));
  return [
    ...own
      .filter((crowd) => isCalm(crowd) && crowd.every(isAnswered) && !crowd.some(isGranted) && crowd.some(isRefused))
      .map(refusedByNobody),
    ...own.flatMap((crowd) =>
      crowd.filter((one) => isRefused(one) && isOutOfReach(history, one)).map(refusedUnreached),
    ),
    ...own.filter((crowd) => isShared && isCalm(crowd) && madeFor(crowd).length > MOST_CONTENDERS).map(tooManyAsked),
    ...waiters.filter((crowd) => isCalm(crowd) && hasDirectory(history, crowd) && !isInOrder(crowd)).map(outOfOrder),
  ];
}

function ownKeyOf(path: string): string {
  const at = path.indexOf(`/${OWN_CROWD_KEY}/`);
  return at < 0 ? path : path.slice(at + 1);
}

/** Groups attempts by crowd. The members of a crowd have the crowd's name and their index in it. */
function crowdsOf(attempts: readonly Attempt[]): Attempt[][] {
  return byKey(attempts.map((one) => ({ one, key: one.id.slice(0, one.id.lastIndexOf('.')) }))).map((group) =>
    group.map(({ one }) => one),
  );
}

// A process that is killed answers no more.
const isAnswered = ({ outcome }: Attempt) => outcome !== undefined;
const isGranted = ({ outcome }: Attempt) => outcome === 'granted';
const isRefused = ({ outcome }: Attempt) => outcome === 'not this time';
const begin = (crowd: readonly Attempt[]) => Math.min(...crowd.map(({ askedAt }) => askedAt));
const end = (crowd: readonly Attempt[]) => Math.max(...crowd.map(({ askedAt, answeredAt = askedAt }) => answeredAt));

/**
 * Whether an attempt was made and answered while there was no server. Nobody can then know that the key is taken. The
 * end of another fault may bring servers back, so contenders must not have been created or deleted in that time either.
 */
function isOutOfReach({ faults, contenders }: Judged, { askedAt, answeredAt = Infinity }: Attempt): boolean {
  return faults.some(({ name, from, until }) => {
    const knownAt = from + KNOWN_AFTER_MS;
    const isIn = (at = -Infinity) => knownAt <= at && at <= answeredAt;
    const isAway = name === 'lost-quorum' && knownAt <= askedAt && answeredAt <= until;
    return isAway && !contenders.some(({ madeAt, goneAt }) => isIn(madeAt) || isIn(goneAt));
  });
}

/** Whether the directory existed. If it is missing, callers without a local queue create it concurrently. */
function hasDirectory({ contenders }: Judged, crowd: readonly Attempt[]): boolean {
  const at = begin(crowd);
  return contenders.some(
    ({ key, madeAt = 0, goneAt = Infinity }) =>
      key.endsWith(`/${CROWD_KEY}`) && madeAt <= at && goneAt >= at + KNOWN_AFTER_MS / 10,
  );
}

/** Whether the members were granted in the order of their calls. */
function isInOrder(crowd: readonly Attempt[]): boolean {
  const grantedAt = crowd.filter(isGranted).map(({ answeredAt = 0 }) => answeredAt);
  return grantedAt.every((at, place) => place === 0 || at >= grantedAt[place - 1]!);
}

function refusedByNobody(crowd: readonly Attempt[]): Finding {
  const [{ process, keys }] = crowd as [Attempt];
  return finding('refusals', `of ${crowd.length} callers of ${process} that tried ${keys[0]} nobody got it`, crowd);
}

function refusedUnreached(one: Attempt): Finding {
  const message = `${one.process} was told that ${one.keys[0]} is taken, while no server was there to say so`;
  return finding('refusals', message, [one]);
}

function tooManyAsked(crowd: readonly Attempt[]): Finding {
  const [{ process, keys }] = crowd as [Attempt];
  return finding('requests', `${process} made a contender for each of its callers that tried ${keys[0]}`, crowd);
}

function outOfOrder(crowd: readonly Attempt[]): Finding {
  const [{ process, keys }] = crowd as [Attempt];
  return finding('fifo', `callers of ${process} were let into ${keys[0]} in another order than they came`, crowd);
}

function finding(check: string, message: string, records: readonly unknown[]): Finding {
  return { check, message, records };
}
