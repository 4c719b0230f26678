/**
 * The number of permits of a semaphore: a persistent znode with a big-endian number of 32 bits, as Curator's
 * SharedCount writes it.
 * - The znode beside a semaphore is created by the first client that records another number than that of the options.
 * - A znode at a path of its own is created when it does not exist, as Curator does.
 */
import { LockConfigurationError } from '../../contract/errors.js';
import type { SemaphoreSize } from '../../contract/lock-request.js';
import { CreateMode, ErrorCode, isKeeperError, KeeperError } from '../session/requests.js';
import type { Requests, Watch } from '../session/requests.js';
import { unlessMissing } from '../session/watch.js';
import { createNode } from './create-node.js';
import type { LockDirectory } from './lock-directory.js';
import { COUNT } from './permit-view.js';

/** The number, and a watch for its change. */
export interface WatchedCount {
  readonly permits: number;
  readonly watch: Watch;
}

export class PermitCount {
  readonly #directory: LockDirectory;
  readonly #name: string;
  readonly #initial: number;
  readonly #isBeside: boolean;

  /**
   * @param semaphore the semaphore's own directory
   * @param path the path of the znode, if it is not beside the semaphore
   */
  constructor(semaphore: LockDirectory, { permits }: SemaphoreSize, path?: string) {
    const slash = path?.lastIndexOf('/') ?? -1;
    this.#isBeside = path === undefined;
    this.#directory = path === undefined ? semaphore : { ...semaphore, path: path.slice(0, slash) };
    this.#name = path === undefined ? COUNT : path.slice(slash + 1);
    this.#initial = permits;
  }

  get path(): string {
    return `${this.#directory.path}/${this.#name}`;
  }

  /** The current number. @throws KeeperError, LockConfigurationError */
  async read(requests: Requests): Promise<number> {
    return this.#orInitial(requests, async () => this.#parsed((await requests.read(this.path)).data));
  }

  /** The current number with a watch. @throws as `read`, and leaves no watch then */
  async watch(requests: Requests): Promise<WatchedCount> {
    for (;;) {
      const watched = await this.#orInitial(requests, () => this.#watchedCount(requests));
      if (typeof watched === 'object') return watched;
      // The znode at a path of its own has just been created.
      if (!this.#isBeside) continue;
      // The znode beside the semaphore does not exist yet. The watch on the children fires when it is created.
      const { names, watch } = await requests.watchChildren(this.#directory.path);
      if (!names.includes(this.#name)) return { permits: watched, watch };
      watch.remove();
    }
  }

  /**
   * Writes the number. It overwrites only another number: the directory of a lock may be at the same path. It is
   * removed with the lock, and the number would be lost with it.
   * @throws KeeperError; after a connection loss the call can be repeated. LockConfigurationError
   */
  async write(requests: Requests, permits: number): Promise<void> {
    const [data, path] = [asData(permits), this.path];
    for (;;) {
      const there = await unlessMissing(requests.read(path), undefined);
      if (!there) {
        if (await this.#create(requests, permits)) return;
        continue;
      }
      this.#parsed(there.data);
      const { results } = await requests.multi([{ type: 'setData', path, data, version: there.stat.version }]);
      const error = results[0]?.error ?? ErrorCode.ok;
      if (error === ErrorCode.ok) return;
      if (error !== ErrorCode.noNode && error !== ErrorCode.badVersion) throw new KeeperError(error, path);
    }
  }

  async #watchedCount(requests: Requests): Promise<WatchedCount> {
    const { data, watch } = await requests.watchData(this.path);
    try {
      return { permits: this.#parsed(data), watch };
    } catch (error) {
      watch.remove();
      throw error;
    }
  }

  async #orInitial<T>(requests: Requests, look: () => Promise<T>): Promise<T | number> {
    for (;;) {
      try {
        return await look();
      } catch (error) {
        if (!isKeeperError(error, 'noNode')) throw error;
      }
      if (this.#isBeside || (await this.#create(requests, this.#initial))) return this.#initial;
    }
  }

  /** Creates the znode. `false` when another client has created it. */
  async #create(requests: Requests, permits: number): Promise<boolean> {
    const node = { name: this.#name, mode: CreateMode.persistent, data: asData(permits) };
    return createNode(requests, this.#directory, node).then(
      () => true,
      (error: unknown) => {
        if (isKeeperError(error, 'nodeExists')) return false;
        throw error;
      },
    );
  }

  #parsed(data: Buffer): number {
    const permits = data.length === 4 ? data.readInt32BE() : -1;
    if (permits >= 0) return permits;
    const cure = 'use another sharedCount, at and below which no key of a lock lies';
    throw new LockConfigurationError(
      `what is at ${this.path} is no number of permits, but ${data.length} bytes; ${cure}`,
    );
  }
}

function asData(permits: number): Buffer {
  const data = Buffer.alloc(4);
  data.writeInt32BE(permits);
  return data;
}
