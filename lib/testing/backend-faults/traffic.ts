import { setTimeout as pause } from 'node:timers/promises';
import type { LeaseMode } from '../../contract/lease.js';
import { GivenUp } from './witness.js';
import type { FaultClient } from './witness.js';
import type { FaultStage } from './fault-stage.js';

const MODES: readonly LeaseMode[] = ['exclusive', 'exclusive', 'write', 'read', 'read'];
const FEWEST_GRANTS = 10;
const LONGEST_HOLD_MS = 8;
const REST_MS = 20;
const LONGEST_PATIENCE_MS = 300;

/** Causes the next fault, and returns for how long it lasts, in milliseconds. */
export type NextFault = (random: () => number, turn: number) => number;

/**
 * Lets clients acquire, write and release one key for a while, in all modes, with waits and without, and some that give
 * up. Faults happen one after the other. The history is judged by the stage.
 */
export async function runTraffic(stage: FaultStage, ms: number, fault: NextFault): Promise<void> {
  const over = new AbortController();
  const clients = [stage.one, await stage.another('second'), stage.other, stage.other];
  const traffic = Promise.all(clients.map((client) => client && drive(stage, client, over.signal)));
  traffic.catch(() => {});
  const watching = watchLine(stage, over.signal);
  const end = performance.now() + ms;
  for (let turn = 0; performance.now() < end; turn++) {
    const faultMs = fault(Math.random, turn);
    await pause(Math.min(faultMs, Math.max(0, end - performance.now())));
  }
  stage.proxy.heal();
  // The faults are over: there is more to come before the end. A slow machine has had few grants until now.
  const fewest = Math.max(FEWEST_GRANTS, stage.witness.grants + clients.length + 1);
  await stage.until(() => stage.witness.grants >= fewest, `${fewest} grants, some of them after the faults`);
  over.abort(new GivenUp());
  await stage.within(Promise.all([traffic, watching]), 'the end of the traffic');
}

async function drive(stage: FaultStage, client: FaultClient, over: AbortSignal): Promise<void> {
  while (!over.aborted) {
    const leaving = new AbortController();
    const end = () => leaving.abort(new GivenUp());
    over.addEventListener('abort', end, { once: true });
    const isImpatient = Math.random() < 0.2;
    const patience = isImpatient ? setTimeout(end, LONGEST_PATIENCE_MS * Math.random()) : undefined;
    const changes = { mode: pick(MODES), wait: Math.random() < 0.8 };
    const lease = await stage.ask(client, changes, leaving).catch(() => null);
    clearTimeout(patience);
    over.removeEventListener('abort', end);
    if (lease) {
      stage.witness.write(lease);
      await pause(LONGEST_HOLD_MS * Math.random());
      stage.witness.write(lease);
      await lease.release();
    } else await pause(REST_MS);
  }
}

/** Reads the wait queue again and again, so that the history has the places of the waits. */
async function watchLine(stage: FaultStage, over: AbortSignal): Promise<void> {
  while (!over.aborted) {
    await stage.line().catch(() => {});
    await pause(REST_MS);
  }
}

function pick<T>(list: readonly T[]): T {
  return list[Math.floor(Math.random() * list.length)] as T;
}
