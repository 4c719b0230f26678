/** An object that depends on znodes, and is notified of what other clients do to them. */
export interface NodesListener {
  /** Called when a znode was found to be gone although this process did not delete it. */
  gone(reason: NodeDeletedError): void;
  /** Called when a client requests revocation from the holder. */
  revoked?(): void;
}

/** The watch on a contender's own znode. */
export interface OwnWatch {
  /**
   * Whether the watch is set and has not fired, or the contender is known to be gone. It is `false` from the event on
   * until it is known what the event means.
   */
  readonly isSet: boolean;
  /** Resolves when `isSet` becomes true. Never rejects. */
  readonly set: Promise<void>;
  /** Called when a contender that was leaving has not left. The event that came meanwhile is handled now. */
  stays(): void;
}

/** The znodes that a lease depends on: one, or several that are held and released as one. */
export interface LeaseNodes {
  readonly czxid: bigint;
  /** Whether a znode was found to be gone although this process did not delete it. */
  readonly isGone: boolean;
  /** Notifies `listener` from now on, and at once of what has happened already. There is one listener at a time. */
  listen(listener: NodesListener | undefined): void;
  /**
   * Deletes the znodes for certain. Resolves when they are deleted, or after `ms`; the deletion then continues in the
   * background. Never rejects.
   */
  leave(ms: number): Promise<void>;
}

/** A contender's znode was deleted by another client: it has lost its place in the wait queue. */
export class NodeDeletedError extends Error {
  constructor(path: string) {
    super(`the contender ${path} was deleted from outside`);
    this.name = 'NodeDeletedError';
  }
}
