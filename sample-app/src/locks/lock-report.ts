import type { LeaseMode } from 'nestjs-distributed-lock';

/** What an instance tells the conductor, for its live view. */
export type LockReport =
  | { readonly kind: 'ready'; readonly url: string }
  | { readonly kind: 'asks'; readonly key: string }
  | { readonly kind: 'refused'; readonly key: string }
  | { readonly kind: 'holds' | 'leaves'; readonly key: string; readonly mode: LeaseMode; readonly token: string };

/** Nobody listens when the instance was started by hand. */
export function tellConductor(report: LockReport): void {
  if (process.connected) process.send?.(report);
}
