import { createHmac, randomBytes } from 'node:crypto';
import type { LockDashboardOptions } from './dashboard.options.js';
import { shownText } from './shown-text.js';

const MOST_KNOWN = 5_000;

type NamingOptions = Pick<LockDashboardOptions, 'redactKey' | 'secret' | 'showHosts'>;

/**
 * The names of keys in requests and on the page. Without `redactKey` a key is its own name. With it, the name is an HMAC,
 * and stands only for keys that this process has shown. A hash without a secret could be compared with those of guesses.
 */
export class KeyNames {
  readonly #redact: ((key: string) => string) | undefined;
  readonly #secret: string | Buffer;
  readonly #known = new Map<string, string>();
  /** Whether messages of errors may not be shown: they may contain keys, and name servers. */
  readonly areMessagesHidden: boolean;

  constructor({ redactKey, secret, showHosts = true }: NamingOptions) {
    this.areMessagesHidden = redactKey !== undefined || !showHosts;
    this.#redact = redactKey;
    this.#secret = secret ?? randomBytes(32);
  }

  /** Whether keys may not be shown as they are. */
  get areRedacted(): boolean {
    return this.#redact !== undefined;
  }

  /** Returns the key's name in requests. */
  idOf(key: string): string {
    if (!this.#redact) return key;
    const id = createHmac('sha256', this.#secret).update(key).digest('base64url').slice(0, 22);
    this.#known.delete(id);
    this.#known.set(id, key);
    const [oldest] = this.#known.keys();
    if (this.#known.size > MOST_KNOWN && oldest !== undefined) this.#known.delete(oldest);
    return id;
  }

  /** Returns the key of a name; `undefined` when no key has it. */
  keyOf(id: string): string | undefined {
    return this.#redact ? this.#known.get(id) : id;
  }

  /** Returns the text that the page shows. */
  shown(key: string): string {
    return shownText(this.#redact ? this.#redact(key) : key);
  }

  /** Returns the message of an error, or its name where messages are hidden. */
  faultOf(error: unknown): string {
    if (!(error instanceof Error)) return this.areMessagesHidden ? 'an unknown error' : shownText(String(error));
    return this.areMessagesHidden ? error.name : shownText(error.message);
  }
}
