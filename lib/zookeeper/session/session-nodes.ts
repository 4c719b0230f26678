import type { Dispose } from '../../async/abort.js';
import { LinkedList } from '../../async/collections.js';
import type { Place } from '../../async/collections.js';

/** A znode that this session owns and a lease or a wait depends on. */
export interface OwnNode {
  readonly path: string;
  /**
   * The zxid of the znode's creation. Given where the path alone does not identify the znode, because others use the
   * same path.
   */
  readonly czxid?: bigint | undefined;
  /** Called once, when the znode is found to be deleted. */
  readonly onGone: () => void;
}

/** The znodes of a session that the heartbeat checks from time to time. */
export class SessionNodes {
  readonly #nodes = new LinkedList<OwnNode>();

  track(node: OwnNode): Dispose {
    const place = this.#nodes.join(node);
    return () => place.leave();
  }

  /** Returns up to `count` znodes, the least recently taken first. */
  take(count: number): Place<OwnNode>[] {
    return this.#nodes.rotate(count);
  }

  gone(place: Place<OwnNode>): void {
    if (place.leave()) place.member.onGone();
  }
}
