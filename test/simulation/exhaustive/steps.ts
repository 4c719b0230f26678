import type { World } from '../world/world.js';
import type { Choices, Kind } from './choices.js';
import type { SmallFault } from './faults.js';
import type { MessagesUnderWay } from './messages-under-way.js';
import type { States } from './states.js';

/** The parts of a run that its steps use. */
export interface Ground {
  readonly world: World;
  readonly messages: MessagesUnderWay;
  readonly choices: Choices;
  /** The faults that may happen now. */
  readonly faults: () => readonly SmallFault[];
  readonly states: States;
  readonly reached: () => void;
  readonly tell: (text: string) => void;
}

/** A timer that is due this soon may fire before messages under way arrive. */
const SOON_US = 10_000;

/** Chooses the next event whenever every process has done all that it can do at the present time. */
export class Steps {
  readonly #ground: Ground;
  /** The time at which passing time was chosen last. It is asked only once per time. */
  #passedAt = -1;

  constructor(ground: Ground) {
    this.#ground = ground;
  }

  /** Called before each event of the world. Returns whether the run is over. */
  go(): boolean {
    const { world, choices } = this.#ground;
    while (world.nextAt > world.now && world.now !== this.#passedAt) {
      if (this.#choose()) this.#passedAt = world.now;
    }
    return choices.isOver;
  }

  /** Returns whether time passes. */
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
