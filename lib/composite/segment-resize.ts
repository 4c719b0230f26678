import { orAbort } from '../async/abort.js';
import type { ResolvedAcquireOptions } from '../contract/acquire.options.js';
import { LockLostError } from '../contract/errors.js';
import type { SegmentLease } from '../contract/segment.options.js';
import { AllSegments } from './all-segments.js';
import type { WholeSet } from './all-segments.js';
import type { MultiLease } from './multi-lease.js';
import type { Outcome } from './segment-search.js';
import type { SegmentSetting } from './segment-setting.js';

/** What is to be done about the data of the segments while nobody is in any of them. */
export interface SegmentChange {
  readonly from: number;
  readonly to: number;
  /** On every segment of both counts, in the order of their numbers. */
  readonly leases: readonly SegmentLease[];
  /** Aborts with a `LockLostError` when one of them is lost: the count will then stay as it is. */
  readonly signal: AbortSignal;
}

export type Migrate = (change: SegmentChange) => void | Promise<void>;

/** Changes the recorded count under the leases of all segments; why in these steps stands in `segmented-lock.ts`. */
export async function changeCount(
  setting: SegmentSetting,
  to: number,
  migrate: Migrate,
  options: ResolvedAcquireOptions,
): Promise<void> {
  const { expected } = setting.count;
  // A lease that is lost once the new count is written has done its duty.
  const patient = { ...options, onLost: 'ignore' } as const;
  await new AllSegments(setting, to).using(expected, patient, (set) => changeUnder(setting, set, to, migrate));
}

async function changeUnder(
  { key, count }: SegmentSetting,
  { segments: from, leases, lease, limit }: WholeSet,
  to: number,
  migrate: Migrate,
): Promise<Outcome<void>> {
  const counted = await orAbort(count.read(), limit);
  if (counted.segments !== from) return { recorded: counted.segments };
  if (from === to) return { got: undefined };
  const mark = await count.replace({ segments: from, resizingTo: to }, counted.version);
  if (mark === undefined) return { recorded: from };
  assertHeld(lease);
  await migrateOr(
    () => migrate({ from, to, leases, signal: lease.signal }),
    () => count.replace({ segments: from }, mark),
  );
  assertHeld(lease);
  const written = await count.replace({ segments: to }, mark);
  if (written === undefined) throw new LockLostError(key, 'others have worked under the old count meanwhile');
  return { got: undefined };
}

/** The migration's own error comes first, whatever becomes of the way back. */
async function migrateOr(migrate: () => void | Promise<void>, goBack: () => Promise<unknown>): Promise<void> {
  try {
    await migrate();
  } catch (error) {
    await goBack().catch(() => {});
    throw error;
  }
}

function assertHeld(lease: MultiLease): void {
  if (!lease.isHeld()) throw lease.signal.reason;
}
