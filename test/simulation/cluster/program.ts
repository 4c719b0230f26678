/** The environment of a simulated application. */
export interface ProgramHost<Orders, Entry> {
  readonly process: string;
  readonly orders: Orders;
  record(entry: Entry): void;
  /** A session claims for how long it is surely its own, in milliseconds of the process's clock. */
  claimed(session: bigint, leftMs: number): void;
  /** A server has accepted a session again, and has sent its session timeout. */
  told(session: bigint, timeoutMs: number): void;
}

export interface RunningProgram {
  /** Begins nothing new. Resolves when everything was released, and everything was acquired once more. */
  finish(): Promise<void>;
  /** Resolves when the application has closed. */
  close(): Promise<void>;
}

/** The code that runs in an application's process. */
export interface Program<Orders, Entry> {
  startProgram(host: ProgramHost<Orders, Entry>): Promise<RunningProgram>;
}
