import { Inject, Injectable } from '@nestjs/common';
import { sharedNow } from '../../robustness/clock.js';
import type { AboutHold, Mode } from '../../robustness/model/history.js';
import { Beliefs } from '../../robustness/traffic/beliefs.js';
import type { Belief, Believable, Watchfulness } from '../../robustness/traffic/beliefs.js';
import type { Journal } from '../../robustness/traffic/journal.js';
import { Calls } from './calls.js';
import { TRAFFIC_TOOLS } from './tools.js';
import type { TrafficTools } from './tools.js';

/**
 * Reports leases that were over when they were handed out. A lease is handed out in the instant in which it was found
 * to be held.
 */
class CheckedBeliefs extends Beliefs {
  readonly #tools: TrafficTools;

  constructor(tools: TrafficTools) {
    super(tools.process, { write: tools.record }, tools.orders.pace);
    this.#tools = tools;
  }

  override begin(held: Believable, mode: Mode, watchfulness: Watchfulness, about: AboutHold = {}): Belief | undefined {
    const belief = super.begin(held, mode, watchfulness, {
      ...about,
      ...(watchfulness === 'listens' && { isListening: true }),
    });
    const isNew = about.kind === undefined && !about.isDowngraded;
    if (!belief && isNew) this.#tools.record({ what: 'over at once', at: sharedNow(), key: held.key });
    return belief;
  }
}

/** The records of a process about itself. */
@Injectable()
export class Records {
  readonly journal: Journal;
  readonly beliefs: Beliefs;
  readonly calls: Calls;

  constructor(@Inject(TRAFFIC_TOOLS) tools: TrafficTools) {
    this.journal = { write: tools.record };
    this.beliefs = new CheckedBeliefs(tools);
    this.calls = new Calls(tools);
  }
}
