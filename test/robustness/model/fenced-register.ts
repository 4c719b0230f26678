import type { Mode } from './history.js';

interface Seen {
  readonly write: bigint;
  readonly read: bigint;
}

/**
 * Storage that is guarded by tokens, as docs/recipes.md describes it. It keeps the largest write token and the largest
 * read token of each key. A write must not be smaller than either of them, a read not smaller than the largest write
 * token.
 */
export class FencedRegister {
  readonly #seen = new Map<string, Seen>();

  /** Whether the write is accepted. */
  write(key: string, mode: Mode, token: bigint): boolean {
    const { write, read } = this.#seen.get(key) ?? { write: 0n, read: 0n };
    if (token < write || (mode !== 'read' && token < read)) return false;
    this.#seen.set(key, mode === 'read' ? { write, read: larger(read, token) } : { write: token, read });
    return true;
  }
}

function larger(one: bigint, other: bigint): bigint {
  return one > other ? one : other;
}
