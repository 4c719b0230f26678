import { orAbort } from '../async/abort.js';
import type { ResolvedAcquireOptions } from '../contract/acquire.options.js';
import { LockLostError } from '../contract/errors.js';
import type { SegmentLease } from '../contract/segment.options.js';
import { AllSegments } from './all-segments.js';
import type { WholeSet } from './all-segments.js';
import type { MultiLease } from './multi-lease.js';
import type { Outcome } from './segment-search.js';
import type { SegmentSetting } from './segment-setting.js';

/** A change of the number of segments, for the migration of their data. No other caller holds a segment meanwhile. */
export interface SegmentChange {
  /** The number of segments before the change. */
  readonly from: number;
  /** The number of segments after the change. */
  readonly to: number;
  /** The leases on every segment of both counts, in the order of the segment numbers. */
  readonly leases: readonly SegmentLease[];
  /** Aborts with a `LockLostError` when one of the leases is lost. The count is then not changed. */
  readonly signal: AbortSignal;
}

/**
 * The function that moves the data of the segments. The new number is recorded when it has ended. If it rejects, the
 * number stays the same.
 */
export type Migrate = (change: SegmentChange) => void | Promise<void>;

/** Changes the recorded count under the leases of all segments. `segmented-lock.ts` explains the steps. */
export async function changeCount(
  setting: SegmentSetting,
  to: number,
  migrate: Migrate,
  options: ResolvedAcquireOptions,
): Promise<void> {
  const { expected } = setting.count;
  // After the new count is written, the loss of a lease does no harm.
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

/** Runs `migrate`, and `goBack` if it fails. Throws the migration's own error even if `goBack` fails as well. */
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
