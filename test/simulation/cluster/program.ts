/** What a simulated application is told about the world that it runs in. */
export interface ProgramHost<Orders, Entry> {
  readonly process: string;
  readonly orders: Orders;
  record(entry: Entry): void;
  /** A session says for how long what it has is surely its own, in milliseconds of the process's clock. */
  claimed(session: bigint, leftMs: number): void;
  /** A server has taken a session up again, and says how long it lasts without a word. */
  told(session: bigint, timeoutMs: number): void;
}

export interface RunningProgram {
  /** Begins nothing new. Resolves when everything was given back, and everything was taken once more. */
  finish(): Promise<void>;
  /** Resolves when the application has closed. */
  close(): Promise<void>;
}

/** What runs in an application's process. */
export interface Program<Orders, Entry> {
  startProgram(host: ProgramHost<Orders, Entry>): Promise<RunningProgram>;
}
