import type { Direction, FaultProxy } from '../../../lib/testing/index.js';
import type { Random } from '../random.js';
import type { Failpoint, World } from './failpoint.js';

type Break = (links: readonly FaultProxy[], random: Random) => (() => void) | void;

const WAYS: readonly Direction[] = ['toServer', 'toClient'];

/** Breaks the links of one or two processes, to all servers or to one of them. */
function onLinks(doBreak: Break): Failpoint {
  return async ({ seats }, random) => {
    const hit = random.sample(seats, random.int(1, 2));
    const links = hit.flatMap((seat) => (random.chance(0.7) ? seat.links : [random.pick(seat.links)]));
    return damage(hit.map(({ name }) => name).join(' and '), links, doBreak, random);
  };
}

function onAllLinks(doBreak: Break): Failpoint {
  return async ({ seats }: World, random) =>
    damage(
      'all',
      seats.flatMap((seat) => seat.links),
      doBreak,
      random,
    );
}

function damage(target: string, links: readonly FaultProxy[], doBreak: Break, random: Random) {
  const undo = doBreak(links, random);
  const mend = () => {
    undo?.();
    links.forEach((link) => link.heal());
  };
  return { target, mend };
}

/** Closed and reopened repeatedly, before much can be done in between. */
const flap: Break = (links, random) => {
  const everyMs = random.int(50, 400);
  const timer = setInterval(() => links.forEach((link) => link.disconnect(random.pick(['fin', 'rst']))), everyMs);
  return () => clearInterval(timer);
};

/** Cut after a few bytes, anywhere in a message, and repeatedly after that. */
const cut: Break = (links, random) => {
  const cutOnce = () => links.forEach((link) => link.cutAfter(random.int(1, 120), random.pick(WAYS)));
  cutOnce();
  const timer = setInterval(cutOnce, random.int(100, 500));
  return () => clearInterval(timer);
};

/** The servers' replies are lost, and then the connection, repeatedly. The requests were executed. */
const loseReplies: Break = (links, random) => {
  let isDeaf = false;
  const timer = setInterval(
    () => {
      isDeaf = !isDeaf;
      links.forEach((link) => (isDeaf ? link.blackHole('toClient') : reset(link)));
    },
    random.int(30, 200),
  );
  return () => {
    clearInterval(timer);
    links.forEach(reset);
  };
};

/** Resets a link. The bytes that it held back never arrive. */
function reset(link: FaultProxy): void {
  link.disconnect();
  link.heal();
}

const slow: Break = (links, random) => {
  const [delayMs, bytesPerSecond] = [random.int(20, 400), random.int(2_000, 50_000)];
  links.forEach((link) => {
    link.delay(delayMs, random.pick([...WAYS, undefined]));
    link.throttle(bytesPerSecond);
  });
};

export const LINK_FAILPOINTS = {
  'black hole': onLinks((links) => links.forEach((link) => link.blackHole())),
  'loss to the server': onLinks((links) => links.forEach((link) => link.blackHole('toServer'))),
  'loss to the client': onLinks((links) => links.forEach((link) => link.blackHole('toClient'))),
  'flapping link': onLinks(flap),
  'cut in mid-frame': onLinks(cut),
  'replies lost': onLinks(loseReplies),
  'slow link': onLinks(slow),
  'connections refused': onLinks((links) =>
    links.forEach((link) => {
      link.refuse();
      link.disconnect();
    }),
  ),
  'network down': onAllLinks((links) => links.forEach((link) => link.blackHole())),
} satisfies Record<string, Failpoint>;
