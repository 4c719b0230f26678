import { join } from 'node:path';
import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import type { Counts, Packets, Server } from '../servers/server.js';
import type { QueueShape } from '../shapes.js';
import { monotonicNs } from '../support/clock.js';
import { quantile } from '../support/statistics.js';
import { readAcquisitions } from '../support/tenure-file.js';
import type { Acquisition } from '../support/tenure-file.js';
import { handOvers, overlaps } from '../support/tenures.js';
import type { Figures } from './figures.js';
import type { Measured, Stage } from './stage.js';

const POLL_MS = 20;
/** A wait queue is complete when nothing was sent or received for this long. */
const STILL_MS = 200;
const PATIENCE_MS = 600_000;
/** Holds of no duration would never overlap. */
const LINGERS = { times: 5, ms: 1 };

/** Queues many callers of one process, measures what they cost, and lets them through. */
export async function measureQueue({ callers }: QueueShape, stage: Stage): Promise<Measured> {
  const { workers, server, dir, isLocalLine } = stage;
  const worker = workers[0]!;
  const file = join(dir, 'queue');
  const { ephemerals } = await countsOf(server);
  const { before, beganAt } = await worker.ask(
    { do: 'queue', key: randomUUID(), callers, lingers: LINGERS },
    PATIENCE_MS,
  );
  // One znode of the holder, and one of each waiter unless the waiters share one.
  const enqueueMs = ((await formed(server, ephemerals + (isLocalLine ? 1 : 1 + callers))) - beganAt) / 1e6;
  const standing = await stillness(server);
  const memory = await worker.ask({ do: 'memory' });
  await worker.ask({ do: 'drain', file }, PATIENCE_MS);
  const drained = await stillness(server);
  const acquisitions = readAcquisitions(file);
  const grown = (field: 'heapBytes' | 'residentBytes') => (memory[field] - before[field]) / callers;
  return {
    figures: {
      ...drainFigures(acquisitions, standing, drained),
      enqueueMs,
      heapBytes: grown('heapBytes'),
      residentBytes: grown('residentBytes'),
    },
    acquisitions: acquisitions.length,
    overlaps: overlaps(acquisitions),
  };
}

function drainFigures(acquisitions: readonly Acquisition[], standing: Packets, drained: Packets): Figures {
  const [first, last] = [0, 1].map((share) =>
    quantile(
      acquisitions.map(({ from }) => from),
      share,
    ),
  );
  const gaps = handOvers(acquisitions).map((ns) => ns / 1e3);
  return {
    rate: acquisitions.length / ((last! - first!) / 1e9),
    handOverP50Us: quantile(gaps, 0.5),
    handOverP99Us: quantile(gaps, 0.99),
    packetsTo: (drained.received - standing.received) / acquisitions.length,
    packetsFrom: (drained.sent - standing.sent) / acquisitions.length,
  };
}

/** Resolves with the time at which there were so many ephemeral znodes. @throws Error when it takes too long */
async function formed(server: Server, ephemerals: number): Promise<number> {
  for (const startedAt = performance.now(); performance.now() - startedAt < PATIENCE_MS; await pause(POLL_MS)) {
    if ((await countsOf(server)).ephemerals >= ephemerals) return monotonicNs();
  }
  throw new Error(`less than ${ephemerals} callers stood in line after ${PATIENCE_MS} ms`);
}

async function stillness(server: Server): Promise<Packets> {
  for (let counts = await countsOf(server); ;) {
    await pause(STILL_MS);
    const now = await countsOf(server);
    // Idle sessions send a ping now and then.
    if (now.received - counts.received <= 2) return now;
    counts = now;
  }
}

async function countsOf(server: Server): Promise<Counts> {
  const counts = await server.counts();
  if (!counts) throw new Error('a line of waiters is only looked at on ZooKeeper');
  return counts;
}
