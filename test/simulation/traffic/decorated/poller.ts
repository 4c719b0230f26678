import { Inject, Injectable } from '@nestjs/common';
import { LeaderOnly } from '../../../../lib/decorators/leader-only.decorator.js';
import { OnDeposed, OnElected } from '../../../../lib/decorators/election-hook.decorator.js';
import { currentTerm } from '../../../../lib/elections/entered-term.js';
import { sharedNow } from '../../../robustness/clock.js';
import type { Term } from '../../../../lib/contract/elections.js';
import type { Belief } from '../../../robustness/traffic/beliefs.js';
import type { Desk } from '../desk.js';
import { Records } from '../records.js';
import { workUnder } from '../working.js';

const ELECTION = 'poller';

/** Work that only the leader does. Its application campaigns from its start until its shutdown. */
@Injectable()
export class Poller {
  static readonly ELECTION = ELECTION;
  private belief: Belief | undefined;

  constructor(@Inject(Records) private readonly records: Records) {}

  @OnElected(ELECTION)
  begin(term: Term): void {
    this.belief = this.records.beliefs.begin(term, 'exclusive', 'listens', { kind: 'term' });
  }

  @LeaderOnly(ELECTION)
  async poll(desk: Desk): Promise<true | undefined> {
    const term = currentTerm();
    if (!term) throw new Error('a method with @LeaderOnly ran without a term');
    if (!term.isHeld()) desk.record({ what: 'over at once', at: sharedNow(), key: `term ${ELECTION}` });
    await workUnder(desk, term, { kind: 'term' });
    return true;
  }

  @OnDeposed(ELECTION)
  end(): void {
    this.belief?.end();
  }
}
