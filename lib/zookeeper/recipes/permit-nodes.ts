import type { Contender } from './contender.js';
import type { LeaseNodes, NodesListener } from './held-nodes.js';

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

  listen(listener: NodesListener | undefined): void {
    this.contenders.forEach((contender) => contender.listen(listener));
  }

  async leave(ms: number): Promise<void> {
    await Promise.all(this.contenders.map((contender) => contender.leave(ms)));
  }
}
