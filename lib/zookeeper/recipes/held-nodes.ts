export type GoneListener = (reason: NodeDeletedError) => void;

/** The znodes that a lease depends on: one, or several that are held and released as one. */
export interface LeaseNodes {
  readonly czxid: bigint;
  /** Whether a znode was found to be gone although this process did not delete it. */
  readonly isGone: boolean;
  /** Calls back when `isGone` becomes true; at once when it is. There is one such listener. */
  onGone(listener: GoneListener | undefined): void;
  /** Calls back when a client requests revocation from the holder; at once when one has. There is one such listener. */
  onRevoked(listener: () => void): void;
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
