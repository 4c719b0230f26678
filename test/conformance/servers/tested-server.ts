/** A server that scenarios are played on. */
export interface TestedServer extends AsyncDisposable {
  readonly name: string;
  readonly port: number;
  /** The longest time until it answers or closes, in milliseconds. */
  readonly patienceMs: number;
}

/** The settings with which both servers are started, so that they can be compared. */
export interface ServerSettings {
  /** Whether nodes may have a time to live. */
  readonly extendedTypes?: boolean;
  /** The interval of the checks of containers and of nodes with a time to live, in milliseconds. Default 300. */
  readonly containerCheckMs?: number;
}

/** A margin for a machine that is busy with other work. */
export const PATIENCE_MS = 20_000;

export const TICK_MS = 500;
export const CONTAINER_CHECK_MS = 300;

/** The superuser of a tested server, and the digest of the name and password that the server gets. */
export const SUPER = 'super:conformance';
export const SUPER_DIGEST = 'super:iLSUqf7AtRIvt2vNHu6CiDS0L1A=';
