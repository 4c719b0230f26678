import type { Program } from './desk.js';
import type { ProgramName } from './orders.js';
import { barrier } from './programs/barrier.js';
import { campaign } from './programs/campaign.js';
import { cron } from './programs/cron.js';
import { crowd } from './programs/crowd.js';
import { doubleBarrier } from './programs/double-barrier.js';
import { downgrade } from './programs/downgrade.js';
import { leader } from './programs/leader.js';
import { locks } from './programs/locks.js';
import { looks } from './programs/looks.js';
import { permits } from './programs/permits.js';
import { queue } from './programs/queue.js';
import { segments } from './programs/segments.js';
import { sets } from './programs/sets.js';
import { stock } from './programs/stock.js';
import { values } from './programs/values.js';
import { warm } from './programs/warm.js';

/** The functions of the programs. */
export const PROGRAMS: Readonly<Record<ProgramName, Program>> = {
  locks,
  downgrade,
  warm,
  segments,
  permits,
  campaign,
  leader,
  cron,
  stock,
  queue,
  barrier,
  doubleBarrier,
  values,
  looks,
  crowd,
  sets,
};
