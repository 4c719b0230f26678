import { orAbort } from '../async/abort.js';
import type { Cell, CellChange, Cells, CellWrite } from '../contract/cells.js';
import { SessionCalls } from './across-sessions.js';
import type { CellPlace } from './coordination/cell-place.js';
import { nextCell, readCell } from './coordination/cell-read.js';
import { CellWriting } from './coordination/cell-write.js';
import { inDoubt } from './explained-error.js';
import { Places } from './places.js';
import type { SessionSupervisor } from './session/session-supervisor.js';
import type { ResolvedZooKeeperOptions } from './zookeeper.options.js';

/** Shared values as znodes. What was asked of a session that ends is asked of the next one. */
export class ZooKeeperCells implements Cells {
  readonly #calls: SessionCalls;
  readonly #places: Places;

  constructor(sessions: SessionSupervisor, options: ResolvedZooKeeperOptions) {
    this.#calls = new SessionCalls(sessions);
    this.#places = new Places(options);
  }

  async read(key: string, signal: AbortSignal, name = key): Promise<Cell | undefined> {
    const { path } = this.#placeOf(key);
    return this.#calls.make({ key, name, wait: false, signal }, (session, limit) => readCell(session, path, limit));
  }

  async write(key: string, change: CellChange, signal: AbortSignal, name = key): Promise<CellWrite> {
    const writing = new CellWriting(name, this.#placeOf(key), change);
    const written = this.#calls.make({ key, name, wait: false, signal }, (session, limit) =>
      orAbort(writing.on(session, limit), limit),
    );
    return written.catch((error: unknown) => {
      throw writing.isInDoubt ? inDoubt(error, `whether "${name}" was written`, name) : error;
    });
  }

  async next(key: string, seen: Cell | undefined, signal: AbortSignal, name = key): Promise<Cell | undefined> {
    const { path } = this.#placeOf(key);
    return this.#calls.make({ key, name, wait: true, signal }, (session, limit) =>
      nextCell(session, path, seen, limit),
    );
  }

  #placeOf(key: string): CellPlace {
    const { directory, name } = this.#places.node('values', key);
    return { path: `${directory.path}/${name}`, directory, marks: this.#places.ofWrites };
  }
}
