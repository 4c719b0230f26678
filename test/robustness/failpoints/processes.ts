import { setTimeout as pause } from 'node:timers/promises';
import { ZooKeeperFaultProxy } from '../../../lib/testing/index.js';
import { SESSION_CLOSED } from '../validate/closed-sessions.js';
import { EVENT_LOOP_STALLED, PROCESS_STOPPED } from '../validate/liveness.js';
import type { Failpoint } from './failpoint.js';

const stopped: Failpoint = async ({ seats }, random) => {
  const { worker } = random.pick(seats);
  worker.stop();
  return { target: worker.name, mend: () => worker.resume() };
};

/** Stalls the event loop for `durationMs`. It ends by itself, but the schedule has to wait for it. */
const stalled: Failpoint = async ({ seats }, random, durationMs) => {
  const { worker } = random.pick(seats);
  worker.stall(durationMs);
  return { target: worker.name, mend: () => pause(50) };
};

const killed: Failpoint = async ({ seats }, random) => {
  const seat = random.pick(seats);
  const { worker } = seat;
  await worker.kill();
  return { target: worker.name, mend: () => seat.take() };
};

/** Closes the session from elsewhere, with its id and password. Its znodes are deleted at once. */
const sessionClosed: Failpoint = async ({ seats }, random) => {
  const seat = random.pick(seats);
  const links = seat.links.flatMap((link) => (link instanceof ZooKeeperFaultProxy ? link : []));
  const closed = Promise.all(links.map((link) => link.expireSessions().catch(() => {})));
  // A server that is affected by a fault itself may never answer.
  await Promise.race([closed, pause(10_000, undefined, { ref: false })]);
  return { target: seat.worker.name, mend: () => {} };
};

export const PROCESS_FAILPOINTS = {
  [PROCESS_STOPPED]: stopped,
  [EVENT_LOOP_STALLED]: stalled,
  'process killed': killed,
  [SESSION_CLOSED]: sessionClosed,
} satisfies Record<string, Failpoint>;
