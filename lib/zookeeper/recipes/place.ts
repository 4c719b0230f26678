import type { Acl } from '../session/requests.js';

/** Where contenders of one key stand, and how their znodes are made. */
export interface Place {
  /** The directory of the line. */
  readonly path: string;
  readonly acl: readonly Acl[];
  /** Containers are removed by the servers once they are empty; persistent parents stay. */
  readonly parents: 'container' | 'persistent';
  /** How long a release waits for its answer before it goes on in the background, in milliseconds. */
  readonly releaseTimeoutMs: number;
}
