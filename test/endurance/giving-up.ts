/**
 * Runs acquisitions that time out, one after the other, while another service holds the key. Measures what they leave
 * behind.
 */
import { randomInt, randomUUID } from 'node:crypto';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { LockTimeoutError } from '../../lib/contract/errors.js';
import { ZooKeeperServer } from '../../lib/testing/index.js';
import { eventually } from '../support/eventually.js';
import { closeService, plainService } from '../support/plain-service.js';

/** The state at one moment at which no acquisition waits. */
export interface Residue {
  readonly znodes: number;
  readonly watches: number;
  readonly heapBytes: number;
}

export interface GivingUpOptions {
  readonly cycles: number;
  readonly localLine: boolean;
  readonly onProgress?: (done: number) => void;
}

export interface GivingUpOutcome {
  readonly timeouts: number;
  /**
   * The state after a tenth of the cycles, when everything that is created once has been created. `late` is the state
   * after all cycles.
   */
  readonly early: Residue;
  readonly late: Residue;
}

const AT_ONCE = 100;
const LONGEST_WAIT_MS = 10;

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

/** @throws Error when an acquisition ends in another way than by its time-out */
export async function giveUpAgainAndAgain({
  cycles,
  localLine,
  onProgress,
}: GivingUpOptions): Promise<GivingUpOutcome> {
  const server = await ZooKeeperServer.start();
  const basePath = `/giving-up-${randomUUID()}`;
  const options = { connectString: server.connectString, basePath, localLine };
  const [holder, service] = await Promise.all([plainService(options), plainService(options)]);
  try {
    await holder.acquire('k');
    const alone = await untilAlone(server);
    let timeouts = 0;
    const until = async (count: number) => {
      while (timeouts < count) {
        const waits = Array.from({ length: Math.min(AT_ONCE, count - timeouts) }, () =>
          timedOut(service.acquire('k', { waitMs: 1 + randomInt(LONGEST_WAIT_MS) })),
        );
        timeouts += (await Promise.all(waits)).length;
        onProgress?.(timeouts);
      }
      return residue(server, alone);
    };
    const early = await until(Math.ceil(cycles / 10));
    return { early, late: await until(cycles), timeouts };
  } finally {
    await Promise.all([closeService(holder), closeService(service)]);
    await server.stop();
  }
}

async function timedOut(acquiring: Promise<unknown>): Promise<void> {
  const error: unknown = await acquiring.then(
    () => new Error('somebody was let in'),
    (reason: unknown) => reason,
  );
  if (!(error instanceof LockTimeoutError)) throw error;
}

type ContenderName = Pick<Residue, 'znodes' | 'watches'>;

/** Resolves with the holder's own znodes and watches, once it watches its own znode. */
function untilAlone(server: ZooKeeperServer): Promise<ContenderName> {
  return eventually(async () => {
    const found = await standing(server);
    return found.watches === 1 ? found : undefined;
  }, 'the holder watches its own znode');
}

/**
 * Measures the residue. An acquisition that was just given up may still be cleaning up; what remains after a long time
 * is left behind.
 */
async function residue(server: ZooKeeperServer, alone: ContenderName): Promise<Residue> {
  const isAlone = async () => {
    const found = await standing(server);
    return found.znodes === alone.znodes && found.watches === alone.watches ? found : undefined;
  };
  // Not counted again: the create of an acquisition that was given up may be applied, and undone, a moment later.
  const left = await eventually(isAlone, 'nothing is left').catch(() => standing(server));
  collectGarbage();
  return { ...left, heapBytes: process.memoryUsage().heapUsed };
}

async function standing(server: ZooKeeperServer): Promise<ContenderName> {
  const [metrics, watches] = await Promise.all([server.ask('mntr'), server.ask('wchs')]);
  return {
    znodes: Number(/^zk_znode_count\s+(\d+)/m.exec(metrics)?.[1]),
    watches: Number(/Total watches:(\d+)/.exec(watches)?.[1]),
  };
}
