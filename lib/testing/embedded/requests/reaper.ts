import type { Database } from '../database/database.js';
import type { Znode } from '../tree/znode.js';
import { removeContainer } from './write.js';

/** Removes containers whose last child was deleted, and znodes past their time to live, at an interval. */
export class Reaper {
  readonly #database: Database;
  readonly #intervalMs: number;
  #cancel = () => {};

  constructor(database: Database, intervalMs: number) {
    this.#database = database;
    this.#intervalMs = intervalMs;
  }

  start(): void {
    this.stop();
    this.#cancel = this.#database.clock.after(this.#intervalMs, () => {
      this.#database.propose(() => this.reap());
      this.start();
    });
  }

  stop(): void {
    this.#cancel();
  }

  /** Removes all that are due, each in a transaction of its own. */
  reap(): void {
    const { index } = this.#database.tree;
    const due = [...index.containers, ...index.ttls].filter((path) => this.#isDue(this.#database.tree.demand(path)));
    for (const path of due) this.#database.transact((draft) => removeContainer(path, draft));
  }

  #isDue({ lifetime, children, creates, mtimeMs }: Znode): boolean {
    if (children.size > 0) return false;
    // A container that never had a child is about to get its first.
    if (lifetime.kind === 'container') return creates > 0;
    return lifetime.kind === 'ttl' && this.#database.clock.wall() - mtimeMs > lifetime.ttlMs;
  }
}
