import type { LeaseMode } from 'nestjs-distributed-lock';

/** A report of an instance to the conductor, for its live view. */
export type LockReport =
  | { readonly kind: 'ready'; readonly url: string }
  | { readonly kind: 'asks'; readonly key: string }
  | { readonly kind: 'refused'; readonly key: string }
  | { readonly kind: 'holds' | 'leaves'; readonly key: string; readonly mode: LeaseMode; readonly token: string };

/** Sends a report. There is no receiver if the instance was started by hand. */
export function tellConductor(report: LockReport): void {
  if (process.connected) process.send?.(report);
}
