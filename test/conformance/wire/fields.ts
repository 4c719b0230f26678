import { JuteWriter } from '../../../lib/zookeeper/wire/jute.js';

/** The permissions of one identity. `null` in place of a string is sent as length -1. */
export interface AclEntry {
  readonly permissions: number;
  readonly scheme: string | null;
  readonly id: string | null;
}

export const ALL = 31;
export const OPEN: readonly AclEntry[] = [{ permissions: ALL, scheme: 'world', id: 'anyone' }];

/** Fields in jute's encoding, including null values, which no correct client sends. */
export class Fields {
  readonly #jute = new JuteWriter();

  int(value: number): this {
    this.#jute.int(value);
    return this;
  }

  long(value: bigint): this {
    this.#jute.long(value);
    return this;
  }

  bool(value: boolean): this {
    this.#jute.bool(value);
    return this;
  }

  byte(value: number): this {
    this.#jute.byte(value);
    return this;
  }

  raw(value: Buffer): this {
    this.#jute.raw(value);
    return this;
  }

  string(value: string | null): this {
    return this.buffer(value === null ? null : Buffer.from(value));
  }

  buffer(value: Buffer | null): this {
    if (value === null) this.#jute.int(-1);
    else this.#jute.buffer(value);
    return this;
  }

  strings(values: readonly string[] | null): this {
    return this.vector(values, (value) => this.string(value));
  }

  acl(entries: readonly AclEntry[] | null): this {
    return this.vector(entries, (one) => this.int(one.permissions).string(one.scheme).string(one.id));
  }

  vector<T>(items: readonly T[] | null, write: (item: T) => unknown): this {
    if (items === null) return this.int(-1);
    this.#jute.vector(items, write);
    return this;
  }

  toBuffer(): Buffer {
    return this.#jute.toBuffer();
  }
}
