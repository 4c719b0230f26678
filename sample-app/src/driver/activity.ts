import type { LockReport } from '../locks/lock-report.js';

type Holding = Extract<LockReport, { kind: 'holds' | 'leaves' }>;

/** The current holders and the number of waiters per instance, derived from the instances' reports. */
export class Activity {
  private readonly holdings = new Map<string, readonly Holding[]>();
  private readonly waiting = new Map<string, number>();
  /** The time of the first reported lease, in milliseconds since this process began. */
  firstHeldMs: number | undefined;

  apply(instance: string, report: LockReport): void {
    switch (report.kind) {
      case 'asks':
        return add(this.waiting, instance, 1);
      case 'refused':
        return add(this.waiting, instance, -1);
      case 'holds':
        this.firstHeldMs ??= performance.now();
        add(this.waiting, instance, -1);
        this.dropBefore(report);
        this.holdings.set(instance, [...this.holdingsOf(instance), report]);
        return;
      case 'leaves':
        this.drop(instance, report);
        return;
      case 'ready':
    }
  }

  holdingsOf(instance: string): readonly Holding[] {
    return this.holdings.get(instance) ?? [];
  }

  waitingOn(instance: string): number {
    return this.waiting.get(instance) ?? 0;
  }

  isBusy(instance: string): boolean {
    return this.waitingOn(instance) > 0 || this.holdingsOf(instance).length > 0;
  }

  /**
   * Drops older leases of the same key. Reports of two processes can arrive out of order: a new holder may be reported
   * before the release of the previous one. The fencing tokens show the order.
   */
  private dropBefore({ key, mode, token }: Holding): void {
    for (const [instance, holdings] of this.holdings) {
      const isOver = (held: Holding) =>
        held.key === key && !(mode === 'read' && held.mode === 'read') && BigInt(held.token) < BigInt(token);
      this.holdings.set(
        instance,
        holdings.filter((held) => !isOver(held)),
      );
    }
  }

  private drop(instance: string, { key, token }: Holding): void {
    const holdings = this.holdingsOf(instance);
    const place = holdings.findIndex((held) => held.key === key && held.token === token);
    if (place >= 0) this.holdings.set(instance, holdings.toSpliced(place, 1));
  }
}

function add(counts: Map<string, number>, name: string, change: number): void {
  counts.set(name, (counts.get(name) ?? 0) + change);
}
