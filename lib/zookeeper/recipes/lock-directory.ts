import type { Acl } from '../session/requests.js';

/** The data of the containers above contenders for keys. Every process of this library may remove them when empty. */
export const REMOVABLE = Buffer.from('container');

/** The znode under which the contenders of one key are created, and how it and they are created. */
export interface LockDirectory {
  readonly path: string;
  readonly acl: readonly Acl[];
  /** Containers are removed by the servers once they are empty. Persistent parents remain. */
  readonly parents: 'container' | 'persistent';
  /** Whether it is the directory of a key, which is removed when it is idle. See `key-directories.ts`. */
  readonly isOfKey?: boolean;
  /** The maximum wait of a release for its reply, in milliseconds. After it the release continues in the background. */
  readonly releaseTimeoutMs: number;
  /**
   * The delay, in milliseconds, of a waiting contender behind several others of its session. Default: 0. See
   * `create-batching.ts`.
   */
  readonly createDelayMs?: number;
}
