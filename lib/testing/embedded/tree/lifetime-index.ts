import type { Lifetime } from './znode.js';

/** The znodes that are removed automatically, by the cause of their removal. */
export class LifetimeIndex {
  readonly containers = new Set<string>();
  readonly ttls = new Set<string>();
  readonly #ephemerals = new Map<bigint, Set<string>>();

  /** Returns the paths of the session's ephemeral znodes. */
  ephemeralsOf(owner: bigint): string[] {
    return [...(this.#ephemerals.get(owner) ?? [])];
  }

  owners(): bigint[] {
    return [...this.#ephemerals.keys()];
  }

  add(path: string, lifetime: Lifetime): void {
    this.#setFor(lifetime)?.add(path);
  }

  remove(path: string, lifetime: Lifetime): void {
    const paths = this.#setFor(lifetime);
    paths?.delete(path);
    if (lifetime.kind === 'ephemeral' && paths?.size === 0) this.#ephemerals.delete(lifetime.owner);
  }

  #setFor(lifetime: Lifetime): Set<string> | undefined {
    switch (lifetime.kind) {
      case 'persistent':
        return undefined;
      case 'container':
        return this.containers;
      case 'ttl':
        return this.ttls;
      case 'ephemeral':
        return this.#ownedBy(lifetime.owner);
    }
  }

  #ownedBy(owner: bigint): Set<string> {
    const paths = this.#ephemerals.get(owner) ?? new Set();
    this.#ephemerals.set(owner, paths);
    return paths;
  }
}
