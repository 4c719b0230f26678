import { JuteReader } from '../../../zookeeper/wire/jute.js';
import type { Acl } from '../../../zookeeper/wire/records.js';

/** An entry of an ACL as a client sends it. kazoo sends an empty id as null. */
export type AskedAcl = Omit<Acl, 'id'> & { readonly id: string | null };

/** Reads what clients send. Throws a RangeError for a null that makes no sense, or when a record ends early. */
export class RequestReader extends JuteReader {
  nullableBuffer(): Buffer | null {
    const length = this.int();
    return length === -1 ? null : this.raw(length);
  }

  nullableString(): string | null {
    return this.nullableBuffer()?.toString() ?? null;
  }

  override string(): string {
    const text = this.nullableString();
    if (text === null) throw new RangeError('null instead of a string');
    return text;
  }

  /** A null list is one without entries. */
  acl(): AskedAcl[] {
    return this.#list(this.int(), () => {
      const permissions = this.int();
      // A null scheme is invalid. A null id is valid where it is not read.
      return { permissions, scheme: this.nullableString() ?? '', id: this.nullableString() };
    });
  }

  paths(): string[] {
    const count = this.int();
    if (count === -1) throw new RangeError('null instead of a list');
    return this.#list(count, () => this.string());
  }

  // Entry by entry: a count may exceed the number of bytes, and no memory is reserved for it.
  #list<T>(count: number, read: () => T): T[] {
    const items: T[] = [];
    while (items.length < count) items.push(read());
    return items;
  }
}
