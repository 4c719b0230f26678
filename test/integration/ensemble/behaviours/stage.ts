/** A server of three. */
export interface StagedServer {
  readonly id: number;
  readonly port: number;
}

export type Roles = readonly [leader: StagedServer, one: StagedServer, other: StagedServer];

export const SYNC_LIMIT_TICKS = 5;

/** Three servers, real or not, and what may happen to them. */
export interface Stage {
  readonly tickMs: number;
  roles(): Promise<Roles>;
  /** Of two that take themselves for the leader, the one that was elected last. */
  leader(): Promise<StagedServer | undefined>;
  /** Since some moment. */
  ticks(): number;
  /** Time passes, and everything that can happen in it does. */
  pass(ticks: number): Promise<void>;
  cutOff(server: StagedServer): void;
  /** Nobody is cut off any more. */
  rejoin(): void;
  freeze(server: StagedServer): Promise<void>;
  thaw(server: StagedServer): Promise<void>;
  /** All servers are well again. */
  restore(): Promise<void>;
}
