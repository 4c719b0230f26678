export type GoneListener = (reason: NodeDeletedError) => void;

/** The znodes that a lease stands on: one, or several that are held and given back as one. */
export interface LeaseNodes {
  readonly czxid: bigint;
  /** Whether one was found gone although nobody here deleted it. */
  readonly isGone: boolean;
  /** Calls back then; at once when it is so. There is one such listener. */
  onGone(listener: GoneListener | undefined): void;
  /** Calls back when somebody asks the holder to give way; at once when somebody has. There is one such listener. */
  onRevoked(listener: () => void): void;
  /** Deletes them, for certain. Resolves when that is so, or after `ms`, when it goes on by itself. Never rejects. */
  leave(ms: number): Promise<void>;
}

/** A contender's znode was deleted by somebody else: it has lost its place in line. */
export class NodeDeletedError extends Error {
  constructor(path: string) {
    super(`the contender ${path} was deleted from outside`);
    this.name = 'NodeDeletedError';
  }
}
