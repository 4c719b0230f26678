import type { LockRequest } from '../../contract/lock-request.js';
import { segmentOfKey } from '../../contract/segment.options.js';
import type { OtherContender } from './other-contender.js';

/** The properties of keys that are needed here. */
interface Keys {
  /** Returns a key's identity. Two keys with the same identity are the same. */
  identify(key: string): string;
}

/** All contenders outside the application, and the keys on which another contender precedes the application. */
export class OtherContenders {
  readonly #keys: Keys;
  readonly #standing = new Set<OtherContender>();
  readonly #requests = new WeakSet<LockRequest>();
  /** The identities of the contended keys. `undefined` means all keys. */
  readonly #contended: ReadonlySet<string> | undefined;
  readonly #letGo = new Set<string>();
  #allLetGo = false;

  /** @param contended the keys that other contenders hold; `undefined` means all keys */
  constructor(keys: Keys, contended: readonly string[] | undefined) {
    this.#keys = keys;
    this.#contended = contended && new Set(contended.map((key) => keys.identify(key)));
  }

  add(other: OtherContender): void {
    this.#standing.add(other);
    this.#requests.add(other.request);
  }

  hasAsked(request: LockRequest | undefined): boolean {
    return request !== undefined && this.#requests.has(request);
  }

  /** Whether another contender precedes the application on the key. */
  want(key: string): boolean {
    const names = this.#namesOf(key);
    if (this.#allLetGo || names.some((name) => this.#letGo.has(name))) return false;
    return !this.#contended || names.some((name) => this.#contended?.has(name));
  }

  /** Whether `key`, of a lease or a request, is `wanted` or one of its segments. */
  isOn(key: string, wanted: string): boolean {
    return this.#namesOf(key).includes(this.#keys.identify(wanted));
  }

  /** Prevents further contenders on the key; without a key, on any key. */
  stayAway(key?: string): void {
    if (key === undefined) this.#allLetGo = true;
    else this.#letGo.add(this.#keys.identify(key));
  }

  /** Makes all release the key or leave its wait queue, without returning. Without a key, this applies to every key. */
  async letGo(key?: string): Promise<void> {
    this.stayAway(key);
    const leaving = [...this.#standing].filter((other) => key === undefined || this.isOn(other.key, key));
    leaving.forEach((other) => this.#standing.delete(other));
    await Promise.all(leaving.map((other) => other.letGo()));
  }

  /** Returns the identity of the key and, for a segment, that of the key it belongs to. */
  #namesOf(key: string): readonly string[] {
    return [key, segmentOfKey(key)?.key ?? key].map((name) => this.#keys.identify(name));
  }
}
