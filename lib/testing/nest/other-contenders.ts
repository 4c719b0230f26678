import type { LockRequest } from '../../contract/lock-request.js';
import { segmentOfKey } from '../../contract/segment.options.js';
import type { OtherContender } from './other-contender.js';

/** What is asked of keys. */
interface Keys {
  /** Two keys with the same identity are the same. */
  identify(key: string): string;
}

/** Everybody outside the application: who is there, and on which keys there will be somebody before the application. */
export class OtherContenders {
  readonly #keys: Keys;
  readonly #standing = new Set<OtherContender>();
  readonly #requests = new WeakSet<LockRequest>();
  /** Identities; `undefined`: all of them. */
  readonly #contended: ReadonlySet<string> | undefined;
  readonly #letGo = new Set<string>();
  #allLetGo = false;

  /** @param contended whose keys somebody else has; `undefined`: all of them */
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

  /** Whether somebody is on the key before the application is. */
  want(key: string): boolean {
    const names = this.#namesOf(key);
    if (this.#allLetGo || names.some((name) => this.#letGo.has(name))) return false;
    return !this.#contended || names.some((name) => this.#contended?.has(name));
  }

  /** Whether the lease or request on `key` is one on `wanted`, or on one of its segments. */
  isOn(key: string, wanted: string): boolean {
    return this.#namesOf(key).includes(this.#keys.identify(wanted));
  }

  /** They do not come any more; without a key, to any. */
  stayAway(key?: string): void {
    if (key === undefined) this.#allLetGo = true;
    else this.#letGo.add(this.#keys.identify(key));
  }

  /** All give the key back, or leave its line, and do not come again; without a key, every key. */
  async letGo(key?: string): Promise<void> {
    this.stayAway(key);
    const leaving = [...this.#standing].filter((other) => key === undefined || this.isOn(other.key, key));
    leaving.forEach((other) => this.#standing.delete(other));
    await Promise.all(leaving.map((other) => other.letGo()));
  }

  /** The key, and of a segment the key that it is a part of. */
  #namesOf(key: string): readonly string[] {
    return [key, segmentOfKey(key)?.key ?? key].map((name) => this.#keys.identify(name));
  }
}
