import type { World } from '../world/world.js';
import type { Choices, Kind } from './choices.js';
import type { SmallFault } from './faults.js';
import type { MessagesUnderWay } from './messages-under-way.js';
import type { States } from './states.js';

/** What a run is led through. */
export interface Ground {
  readonly world: World;
  readonly messages: MessagesUnderWay;
  readonly choices: Choices;
  /** What may go wrong now. */
  readonly faults: () => readonly SmallFault[];
  readonly states: States;
  readonly reached: () => void;
  readonly tell: (text: string) => void;
}

/** A timer that is due this soon may come before messages that are under way. */
const SOON_US = 10_000;

/** Chooses what happens next, whenever everybody has done everything that there is to do at the present time. */
export class Steps {
  readonly #ground: Ground;
  /** When time was last chosen to pass: that is not asked twice. */
  #passedAt = -1;

  constructor(ground: Ground) {
    this.#ground = ground;
  }

  /** To be called before each event of the world. Answers whether the run is over. */
  go(): boolean {
    const { world, choices } = this.#ground;
    while (world.nextAt > world.now && world.now !== this.#passedAt) {
      if (this.#choose()) this.#passedAt = world.now;
    }
    return choices.isOver;
  }

  /** Answers whether time is to pass. */
  #choose(): boolean {
    const { world, messages, choices, states } = this.#ground;
    this.#ground.reached();
    const count = messages.enabled().length;
    const isSoon = world.nextAt <= world.now + SOON_US;
    const faults = choices.mayFail ? this.#ground.faults() : [];
    const times = count === 0 || isSoon ? 1 : 0;
    const kinds: Kind[] = [...Array<Kind>(count + times).fill('order'), ...Array<Kind>(faults.length).fill('fault')];
    const take = choices.choose(kinds, () => states.complete(world.now, !choices.isUnbounded));
    if (take === undefined) return true;
    if (take > 0) this.#ground.tell(`--- choice ${choices.points - 1}:${take} ---`);
    if (take < count) {
      messages.arrive(take);
      return false;
    }
    const fault = faults[take - count - times];
    if (!fault) return true;
    this.#ground.tell(`*** ${fault.text} ***`);
    states.happened(world.now, fault.text);
    fault.do();
    return false;
  }
}
