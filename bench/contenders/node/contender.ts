/** One caller's access to a lock, which it acquires and releases again and again. */
export interface Locker<Held = unknown> {
  acquire(isRead: boolean): Promise<Held>;
  release(held: Held): Promise<unknown>;
}

/** A lock library with its connections, in one process. */
export interface OpenContender {
  /** Creates a locker. Called once per caller. */
  locker(key: string): Locker | Promise<Locker>;
  close(): Promise<unknown>;
}

/** A contender's options besides its server's address. */
export interface ContenderOptions {
  readonly localLine?: boolean;
  readonly keepMs?: number;
  /** Whether some of the acquisitions only read. */
  readonly isReadWrite?: boolean;
}

/** The entry point of every module here. The address is `host:port`, or several of them with commas. */
export type OpenFunction = (address: string, options: ContenderOptions) => Promise<OpenContender>;
