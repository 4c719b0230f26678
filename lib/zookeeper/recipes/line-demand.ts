import { NEVER } from '../../async/abort.js';
import type { Dispose } from '../../async/abort.js';
import { pause } from '../../async/timer.js';
import type { Demand } from '../../contract/granted-lease.js';
import type { Session } from '../session/session.js';
import type { Contender } from './contender.js';
import { Lineup } from './lineup.js';
import { lineKindOf, standingOf } from './standing.js';

const LOOK_AGAIN_MS = 10;

/** Who stands behind a contender that holds, and has to wait for it. */
export class LineDemand implements Demand {
  readonly #session: Session;
  readonly #contender: Contender;

  constructor(session: Session, contender: Contender) {
    this.#session = session;
    this.#contender = contender;
  }

  watch(onDemand: () => void, onNone: () => void): Dispose {
    let isOver = false;
    this.#untilThere(() => isOver, onNone).then(
      () => isOver || onDemand(),
      () => isOver || onDemand(),
    );
    return () => {
      isOver = true;
    };
  }

  // A watch that stands when it is over is not taken back: the contender's own deletion, which is still to come, fires it.
  async #untilThere(isOver: () => boolean, onNone: () => void): Promise<void> {
    const { directory, name } = this.#contender;
    for (let isFirst = true; !isOver(); isFirst = false) {
      const { names, watch } = await this.#session.requests.watchChildren(directory);
      if (isOver()) return watch.remove();
      if (names.length > 1 && new Lineup(names, lineKindOf(name)).isAwaited(name)) return;
      if (isFirst) onNone();
      await watch.fired;
      // Nobody was behind, and whoever has come has to wait: to look again would only make it wait longer.
      if (standingOf(name)?.kind !== 'read') return;
      // Readers come and go; each of them is not to make all others list the line.
      await pause(LOOK_AGAIN_MS, NEVER);
    }
  }
}
