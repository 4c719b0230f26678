/**
 * How many permits a semaphore has: a persistent znode with a number of 32 bits, the first byte the highest, as Curator's
 * SharedCount writes it. The one beside a semaphore is made by the first who records another number than the options say;
 * one at a path of its own is made when it is not there, as Curator does.
 */
import { LockConfigurationError } from '../../contract/errors.js';
import type { SemaphoreSize } from '../../contract/lock-request.js';
import { CreateMode, ErrorCode, isKeeperError, KeeperError } from '../session/requests.js';
import type { Requests, Watch } from '../session/requests.js';
import { unlessMissing } from '../session/watch.js';
import { createNode } from './create-node.js';
import type { LockDirectory } from './lock-directory.js';
import { COUNT } from './permit-view.js';

/** What the number is, and how it is heard when it is another one. */
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
   * @param path of the znode, if it is not beside the semaphore
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

  /** The number now. @throws KeeperError, LockConfigurationError */
  async read(requests: Requests): Promise<number> {
    return this.#orInitial(requests, async () => this.#parsed((await requests.read(this.path)).data));
  }

  /** @throws as `read`, and leaves no watch then */
  async watch(requests: Requests): Promise<WatchedCount> {
    for (;;) {
      const watched = await this.#orInitial(requests, () => this.#watchedCount(requests));
      if (typeof watched === 'object') return watched;
      // One of its own path has just been made.
      if (!this.#isBeside) continue;
      // There is nothing to watch yet: it is beside the semaphore, where it is seen when it appears.
      const { names, watch } = await requests.watchChildren(this.#directory.path);
      if (!names.includes(this.#name)) return { permits: watched, watch };
      watch.remove();
    }
  }

  /**
   * Writes over a number only: the directory of a lock at the same path would go with the lock, and the number with it.
   * @throws KeeperError; after a lost connection it can be done once more. LockConfigurationError
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

  /** `false` when somebody else has made it. */
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
