import type { LockDirectory } from './recipes/lock-directory.js';
import { placeAt, placePath } from './recipes/znode-path.js';
import type { PlaceKind } from './recipes/znode-path.js';
import type { ResolvedZooKeeperOptions } from './zookeeper.options.js';

/** The paths of objects that are not locks, with the settings with which their znodes are created. */
export class NodePaths {
  readonly #options: ResolvedZooKeeperOptions;

  constructor(options: ResolvedZooKeeperOptions) {
    this.#options = options;
  }

  /** @throws LockConfigurationError that says what is wrong with the key */
  directory(kind: PlaceKind, key: string): LockDirectory {
    return this.at(this.#options.connect.chroot + placePath(kind, key, this.#options.basePath));
  }

  /** The directory of that key's znode, and the znode's name there. @throws as `directory` */
  node(kind: PlaceKind, key: string): { readonly directory: LockDirectory; readonly name: string } {
    const { path } = this.directory(kind, key);
    const slash = path.lastIndexOf('/');
    return { directory: this.at(path.slice(0, slash)), name: path.slice(slash + 1) };
  }

  /** The directory of the marks of unfinished writes. */
  get ofWrites(): LockDirectory {
    return this.at(this.#options.connect.chroot + placeAt('writes', this.#options.basePath));
  }

  at(path: string): LockDirectory {
    const { acl, parents, releaseTimeoutMs } = this.#options;
    return { path, acl, parents, releaseTimeoutMs };
  }
}
