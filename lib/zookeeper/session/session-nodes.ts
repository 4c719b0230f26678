import type { Dispose } from '../../async/abort.js';
import { LinkedList } from '../../async/collections.js';
import type { Place } from '../../async/collections.js';

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
  readonly #nodes = new LinkedList<OwnNode>();

  attend(node: OwnNode): Dispose {
    const place = this.#nodes.join(node);
    return () => place.leave();
  }

  /** Up to `count` of them, the least recently taken first. */
  take(count: number): Place<OwnNode>[] {
    return this.#nodes.rotate(count);
  }

  gone(place: Place<OwnNode>): void {
    if (place.leave()) place.member.onGone();
  }
}
