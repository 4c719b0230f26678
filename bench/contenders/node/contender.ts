/** One caller's way to a lock: asked for, given back, and asked for again. */
export interface Locker<Held = unknown> {
  acquire(isRead: boolean): Promise<Held>;
  release(held: Held): Promise<unknown>;
}

/** A lock library with its connections, in one process. */
export interface OpenContender {
  /** Called once for every caller. */
  locker(key: string): Locker | Promise<Locker>;
  close(): Promise<unknown>;
}

/** What a contender may be told beside its server's address. */
export interface ContenderOptions {
  readonly localLine?: boolean;
  readonly keepMs?: number;
  /** Whether some of the acquisitions only read. */
  readonly isReadWrite?: boolean;
}

/** How every module here begins: with the server's address, as `host:port` or several of them with commas. */
export type OpenFunction = (address: string, options: ContenderOptions) => Promise<OpenContender>;
