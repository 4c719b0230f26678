/** One of three servers. */
export interface StagedServer {
  readonly id: number;
  readonly port: number;
}

export type Roles = readonly [leader: StagedServer, one: StagedServer, other: StagedServer];

export const SYNC_LIMIT_TICKS = 5;

/** Three servers, real or not, and the faults that can be applied to them. */
export interface Stage {
  readonly tickMs: number;
  roles(): Promise<Roles>;
  /** The leader. If two servers believe that they lead, the one that was elected last. */
  leader(): Promise<StagedServer | undefined>;
  /** The number of ticks since a fixed moment. */
  ticks(): number;
  /** Lets time pass, with everything that can happen in it. */
  pass(ticks: number): Promise<void>;
  cutOff(server: StagedServer): void;
  /** Ends all cuts. */
  rejoin(): void;
  freeze(server: StagedServer): Promise<void>;
  thaw(server: StagedServer): Promise<void>;
  /** Ends all faults. */
  restore(): Promise<void>;
}
