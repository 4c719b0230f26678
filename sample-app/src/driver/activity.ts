import type { LockReport } from '../locks/lock-report.js';

type Holding = Extract<LockReport, { kind: 'holds' | 'leaves' }>;

/** Who holds and who waits, put together from what the instances report. */
export class Activity {
  private readonly holdings = new Map<string, readonly Holding[]>();
  private readonly waiting = new Map<string, number>();
  /** When somebody was first heard to hold something, in milliseconds since this process began. */
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
   * Reports of two processes may overtake each other: that the next one holds may be known before that the last one has
   * left. The fencing tokens tell which is which.
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
