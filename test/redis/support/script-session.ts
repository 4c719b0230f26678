import { randomUUID } from 'node:crypto';
import { onTestFinished } from 'vitest';
import { createClient } from '../../../lib/redis/client/redis-client.js';
import { RedisLink } from '../../../lib/redis/client/redis-link.js';
import { flag } from '../../../lib/redis/client/script.js';
import type { Script, ScriptValue } from '../../../lib/redis/client/script.js';
import { JOIN } from '../../../lib/redis/scripts/session-scripts.js';
import { entryText } from '../../../lib/redis/session/entry.js';
import type { RedisKeys } from '../../../lib/redis/session/redis-keys.js';

/** So long that no session ends, and no server settles, within a test. */
const LONG_MS = 600_000;

/** Opens a link that is closed when the test ends. */
export async function linkTo(url: string): Promise<RedisLink> {
  const client = () => createClient({ url }, 'test', LONG_MS);
  const link = new RedisLink({ requests: client(), messages: client() }, () => {});
  onTestFinished(() => link.close('the test is over'));
  await link.open(LONG_MS);
  return link;
}

/** A session whose scripts a test runs one by one, also in an order that no client would send them in. */
export class ScriptSession {
  readonly id = randomUUID();
  /** The messages that the session has received. */
  readonly messages: string[] = [];
  /** The identity of the server that the session was begun on. */
  server = '';
  readonly #link: RedisLink;
  readonly #keys: RedisKeys;
  #numbers = 0;

  constructor(link: RedisLink, keys: RedisKeys) {
    this.#link = link;
    this.#keys = keys;
  }

  /** Begins the session. On a server that settles, it does so for the whole test. */
  async join({ settles = false, overdue = '', observes = false } = {}): Promise<this> {
    await this.#link.subscribe(this.#keys.channel(this.id), (message) => void this.messages.push(message));
    const values = ['', this.id, LONG_MS, settles ? LONG_MS : 0, 1, overdue, flag(observes)];
    const reply = await this.#link.run({ script: JOIN, keys: this.#headKeys, values });
    [, this.server] = reply as [string, string];
    return this;
  }

  /** Returns an exclusive entry that no other one equals. */
  entry(): string {
    const number = ++this.#numbers;
    const { id: session } = this;
    return entryText({ mode: 'exclusive', session, number, permits: 1, most: 1, since: 0, label: undefined });
  }

  /** Runs a script with the head of this session. */
  run(script: Script, keys: readonly string[], ...values: readonly ScriptValue[]): Promise<unknown> {
    const head = [this.server, this.id, 1];
    return this.#link.run({ script, keys: [...this.#headKeys, ...keys], values: [...head, ...values] });
  }

  get #headKeys(): readonly string[] {
    return [this.#keys.sessions, this.#keys.server];
  }
}
