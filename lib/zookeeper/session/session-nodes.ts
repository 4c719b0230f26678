import type { Dispose } from '../../async/abort.js';

/** A znode that this session owns and somebody relies on. */
export interface OwnNode {
  readonly path: string;
  /** Where the path alone does not tell whose znode it is, because others use the same: the zxid of its creation. */
  readonly czxid?: bigint | undefined;
  /** Called once, when the znode turns out to be gone. */
  readonly onGone: () => void;
}

/** The znodes of a session that are to be checked from time to time. */
export class SessionNodes {
  readonly #nodes = new Set<OwnNode>();

  attend(node: OwnNode): Dispose {
    this.#nodes.add(node);
    return () => this.#nodes.delete(node);
  }

  /** Up to `count` of them, the least recently taken first. */
  take(count: number): OwnNode[] {
    const taken = [...this.#nodes].slice(0, count);
    for (const node of taken) {
      this.#nodes.delete(node);
      this.#nodes.add(node);
    }
    return taken;
  }

  gone(node: OwnNode): void {
    if (this.#nodes.delete(node)) node.onGone();
  }
}
