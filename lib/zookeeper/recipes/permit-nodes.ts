import type { Contender } from './contender.js';
import type { GoneListener, LeaseNodes } from './held-nodes.js';

/** The znodes of one acquisition's permits. When one of them is lost, all are lost. */
export class PermitNodes implements LeaseNodes {
  readonly contenders: readonly Contender[];
  readonly czxid: bigint;

  /** @param contenders one per permit, at least one */
  constructor(contenders: readonly Contender[]) {
    this.contenders = contenders;
    this.czxid = contenders[0]?.czxid ?? 0n;
  }

  get isGone(): boolean {
    return this.contenders.some(({ isGone }) => isGone);
  }

  onGone(listener: GoneListener | undefined): void {
    this.contenders.forEach((contender) => contender.onGone(listener));
  }

  onRevoked(listener: () => void): void {
    this.contenders.forEach((contender) => contender.onRevoked(listener));
  }

  async leave(ms: number): Promise<void> {
    await Promise.all(this.contenders.map((contender) => contender.leave(ms)));
  }
}
