/** Processes that acquire the same keys in opposite orders, and whether they ever deadlock. */
import { randomUUID } from 'node:crypto';
import { overlaps } from '../../../bench/support/tenures.js';
import type { ReentrantHold } from '../../../bench/support/tenures.js';
import { startNode } from './start.js';

/** The task of a process: acquire all of the keys, `rounds` times. */
export interface SetOrders {
  readonly keys: readonly string[];
  readonly how: 'atomic' | 'in order' | 'nested';
  readonly rounds: number;
  readonly waitMs: number;
}

export interface SetReport {
  readonly tenures: ReentrantHold[];
  timeouts: number;
}

export interface OppositeOrders {
  readonly connectString: string;
  readonly how: SetOrders['how'];
  /** The rounds of each process. There are as many processes as there are orders of three keys. */
  readonly rounds: number;
  readonly waitMs?: number;
}

export interface OppositeOutcome {
  readonly sets: number;
  readonly timeouts: number;
  readonly overlaps: number;
}

// No set waits this long for the sets of five other processes, unless there is a deadlock.
const STUCK_MS = 30_000;
const SESSION_TIMEOUT_MS = 10_000;
const ORDERS = ['abc', 'acb', 'bac', 'bca', 'cab', 'cba'];

/** @throws Error when a process fails */
export async function inOppositeOrders(options: OppositeOrders): Promise<OppositeOutcome> {
  const { connectString, how, rounds, waitMs = STUCK_MS } = options;
  const base = `/opposite-${randomUUID()}`;
  const processes = ORDERS.map(() => startNode('sets', [connectString, String(SESSION_TIMEOUT_MS)]));
  try {
    await Promise.all(processes.map((process) => process.call('ping')));
    const reports = await Promise.all(
      ORDERS.map((order, place) => {
        const keys = [...order].map((key) => `${base}/${key}`);
        const orders: SetOrders = { keys, how, rounds, waitMs };
        return processes[place]!.call<SetReport>('rounds', orders, { withinMs: rounds * 5_000 + STUCK_MS });
      }),
    );
    const tenures = reports.flatMap((report) => report.tenures);
    const timeouts = reports.reduce((sum, report) => sum + report.timeouts, 0);
    return { sets: tenures.length / 3, timeouts, overlaps: overlaps(tenures) };
  } finally {
    await Promise.all(processes.map((process) => process.kill()));
  }
}
