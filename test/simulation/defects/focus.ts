import type { AskKind } from '../../robustness/traffic/orders.js';
import type { Focus } from '../plan/focus.js';
import type { FaultKind } from '../plan/plan.js';
import type { ProgramName } from '../traffic/orders.js';
import type { Defect, Fault, Traffic } from './defect.js';

const PROGRAMS: Readonly<Record<Traffic, readonly ProgramName[]>> = {
  locks: ['locks'],
  'read-write': ['locks'],
  none: ['locks'],
  multi: ['sets'],
  revoke: ['sets'],
  try: ['crowd'],
  downgrade: ['downgrade'],
  semaphore: ['permits'],
  election: ['campaign', 'leader'],
  cron: ['cron'],
  stock: ['stock'],
  queue: ['queue'],
  barrier: ['barrier', 'doubleBarrier'],
  value: ['values'],
};

const KINDS: Readonly<Partial<Record<Traffic, readonly AskKind[]>>> = {
  'read-write': ['read', 'write'],
  none: ['single'],
  multi: ['multi'],
  revoke: ['revoke'],
  try: ['try'],
};

const FAULTS: Readonly<Record<Fault, readonly FaultKind[]>> = {
  none: [],
  reset: ['reset', 'vanish'],
  hold: ['hold'],
  'one-way': ['one-way'],
  stop: ['stop'],
  stall: ['stall'],
  suspend: ['suspend'],
  crash: ['crash', 'power-off'],
  expiry: ['expiry'],
  'close-from-outside': ['expiry'],
  'delete-node': ['delete-node'],
  'leader-change': ['leader-change', 'server-kill', 'server-power-off'],
  'lost-quorum': ['lost-quorum'],
  'cut-off': ['cut-off'],
  freeze: ['freeze'],
  lag: ['lag'],
  slow: ['slow'],
  'lost-reply': ['lost-reply'],
  'lost-request': ['lost-request'],
  reap: ['reap'],
  'wall-jump': ['wall-jump'],
  // Clock rates are drawn for every world.
  'clock-rate': [],
  'data-gone': ['data-gone'],
};

/** The plans in which the defect can show. Faults of all kinds at once would hide each other. */
export function focusOf({ needs }: Defect): Focus {
  const faults = needs.faults.flatMap((fault) => FAULTS[fault]);
  return {
    programs: needs.traffic.flatMap((traffic) => PROGRAMS[traffic]),
    kinds: needs.traffic.flatMap((traffic) => KINDS[traffic] ?? []),
    faults,
    // Without a fault, the defect shows only in many actions.
    isBusy: faults.length === 0,
    ...needs.plan,
  };
}
