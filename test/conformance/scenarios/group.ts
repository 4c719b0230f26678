import type { ServerSettings } from '../servers/tested-server.js';
import type { Script } from '../stage/stage.js';

/** Scenarios that are played one after the other on one server. */
export interface Group {
  /** Also the name of its recording. */
  readonly name: string;
  readonly settings?: ServerSettings;
  readonly scenarios: Readonly<Record<string, Script>>;
}
