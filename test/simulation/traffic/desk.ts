import { setTimeout as passTime } from 'node:timers/promises';
import type { CoordinationService } from '../../../lib/coordination/coordination.service.js';
import type { LeaderElectionService } from '../../../lib/elections/leader-election.service.js';
import type { LockService } from '../../../lib/service/lock.service.js';
import type { Random } from '../../robustness/random.js';
import type { Beliefs } from '../../robustness/traffic/beliefs.js';
import type { Journal } from '../../robustness/traffic/journal.js';
import type { Span } from '../../robustness/traffic/orders.js';
import type { Register } from '../../robustness/traffic/register-client.js';
import type { Calls } from './calls.js';
import type { Jobs } from './decorated/jobs.js';
import type { Methods } from './decorated/methods.js';
import type { Poller } from './decorated/poller.js';
import type { TrafficTools } from './tools.js';

/** The services and tools that the programs of one process share. */
export interface Office extends TrafficTools {
  readonly locks: LockService;
  readonly elections: LeaderElectionService;
  readonly coordination: CoordinationService;
  readonly methods: Methods;
  /** Present only if the program `leader` runs, because an application that has it campaigns all the time. */
  readonly poller: Poller | undefined;
  /** Present only if the program `cron` runs. */
  readonly jobs: Jobs | undefined;
  readonly journal: Journal;
  readonly beliefs: Beliefs;
  readonly register: Register;
  readonly calls: Calls;
}

/** The services and tools of one client of a program. */
export interface Desk extends Office {
  /** The client's name, unique among all processes. */
  readonly name: string;
  readonly random: Random;
}

/** A program uses the locks in one way. It runs until the process is to finish, and has then released everything. */
export type Program = (desk: Desk) => Promise<void>;

/** Acts again and again, with a pause after each time. */
export async function actUntilFinished(desk: Desk, act: () => Promise<void>): Promise<void> {
  while (!desk.finishing.aborted) {
    await act();
    await passSome(desk, desk.orders.pauseMs);
  }
}

/** Lets some time pass; less when the process is to finish, or when `until` aborts. */
export async function passSome({ finishing, random }: Desk, span: Span, until?: AbortSignal): Promise<void> {
  const signal = until ? AbortSignal.any([finishing, until]) : finishing;
  await passTime(random.int(...span), undefined, { signal }).catch(() => {});
}
