import { NEVER, orAbort } from '../../async/abort.js';
import { StringMap } from '../../async/collections.js';
import { quietDeferred } from '../../async/deferred.js';
import type { Deferred } from '../../async/deferred.js';
import { Alarms, orLateAbort, untilDone } from '../../async/timer.js';
import { SessionEndedError } from '../../sessions/backend-sessions.js';
import { provenUntil, SessionLeases } from '../../sessions/session-leases.js';
import type { RedisLink } from '../client/redis-link.js';
import { LinkLostError } from '../client/redis-error.js';
import type { Script, ScriptValue } from '../client/script.js';
import { LEAVE } from '../scripts/lock-scripts.js';
import type { QueueKeys, RedisKeys } from './redis-keys.js';

/** The entry of a session in a wait queue, held or waiting. */
export interface OwnEntry {
  /** Where it stands. Several: in one of them, which one is not known. `undefined`: in no wait queue. */
  readonly places?: readonly QueuePlace[];
  /** Called with each message about the entry: `g` granted, `w` wanted, `r` asked to release, `x` taken away. */
  told(what: string, token: string, wanted: string): void;
  /** Called when messages may have been lost. */
  mayHaveMissed(): void;
  /** Called when the session is over. A held entry hears of it by its lease. */
  sessionEnded?(error: SessionEndedError): void;
  /** Prepares the same entry on the session of another server. `undefined`: there is nothing to move. */
  moveTo?(session: RedisSession): Move | undefined;
}

/** The move of a held entry to another session. It takes effect when the server has answered. */
export interface Move extends QueuePlace {
  readonly token: string;
  /** The entry of the former session. */
  readonly former: string;
  /** The value that the leader has published, which the server may not know. */
  readonly published: string | undefined;
  /** @param isAdopted whether the server has written the entry down */
  done(isAdopted: boolean): void;
}

/** A place in a wait queue, as scripts take it. */
export interface QueuePlace {
  readonly queue: QueueKeys;
  readonly entry: string;
}

/** The answer of a script: a word, and what belongs to it. */
export type Answer = readonly [word: string, ...rest: unknown[]];

/**
 * Whether a script may have run although its answer was lost, or did not come in time. Requests keep it from one session
 * to the next.
 */
export interface Doubt {
  isSo: boolean;
}

interface RunOptions {
  readonly signal?: AbortSignal;
  /** Whether texts in the answer are bytes. */
  readonly inBytes?: boolean;
  readonly doubt?: Doubt;
  /** The time for which the answer still counts after the signal has aborted, in milliseconds. Default 0 */
  readonly lateMs?: number;
}

/** A listener for a session. */
export interface SessionListener {
  /** A script found that the session, or its server, is another one. */
  doubted(): void;
}

const MOST_AT_ONCE = 50;

/**
 * A session on one server: the identity of this process's entries. It ends when the server ends it, when it was not
 * renewed in time, or when the server is found to be another one.
 */
export class RedisSession {
  /** The leases of the session's holds. */
  readonly leases = new SessionLeases(() => this.deadline);
  /** Alarms that are nearly always cancelled: limits of releases, and looks at entries that wait. */
  readonly alarms = new Alarms();
  /** By the number of the entry. */
  readonly #entries = new StringMap<OwnEntry>();
  /** The places that entries are leaving. After the end of a session whose leases are kept, they stay here. */
  readonly #leaving = new Set<QueuePlace>();
  #keepsLeaving = false;
  readonly #listener: SessionListener;
  /** The keys that all scripts begin with. */
  readonly #headKeys: readonly string[];
  readonly #timeoutMs: number;
  #link: RedisLink | undefined;
  #linked: Deferred<RedisLink> = quietDeferred();
  #linkNumber = 1;
  #numbers = 0;
  /** Requests that were answered that the session is over. They wait for what the renewal finds out. */
  #doubted: Deferred<void> | undefined;
  #provenAt: number;
  #serverAheadMs: number;
  #over: SessionEndedError | undefined;

  /**
   * @param server the identity of the server that the session was begun on
   * @param provenAt when the request that began it was sent, on `now()`
   * @param serverTime the server's time in its answer
   */
  constructor(
    readonly id: string,
    readonly server: string,
    readonly keys: RedisKeys,
    { timeoutMs, provenAt, serverTime }: { timeoutMs: number; provenAt: number; serverTime: number },
    listener: SessionListener,
  ) {
    this.#headKeys = [keys.sessions, keys.server];
    this.#timeoutMs = timeoutMs;
    this.#provenAt = provenAt;
    this.#serverAheadMs = serverTime - Date.now();
    this.#listener = listener;
  }

  /**
   * The deadline until which the server cannot have ended the session, on `now()`. It counts from the sending of the
   * last request that was answered: the server counts from when it received it.
   */
  get deadline(): number {
    return provenUntil(this.#provenAt, this.#timeoutMs);
  }

  get isOver(): boolean {
    return this.#over !== undefined;
  }

  get isLinked(): boolean {
    return this.#link !== undefined;
  }

  /** The server's time, about. */
  get serverNow(): number {
    return Date.now() + this.#serverAheadMs;
  }

  /** The link's number for the next renewal on another link. */
  nextLinkNumber(): number {
    return ++this.#linkNumber;
  }

  get linkNumber(): number {
    return this.#linkNumber;
  }

  get channel(): string {
    return this.keys.channel(this.id);
  }

  /** Counts an answered renewal. @param sentAt when it was sent, on `now()` */
  proven(sentAt: number, serverTime: number): void {
    this.#provenAt = Math.max(this.#provenAt, sentAt);
    this.#serverAheadMs = serverTime - Date.now();
    this.#doubted?.resolve();
    this.#doubted = undefined;
    this.leases.check();
  }

  /** Requests go over this link from now on, and those that were lost are made again. */
  linkedBy(link: RedisLink): void {
    this.#link = link;
    this.#linked.resolve(link);
    this.leases.resume();
    for (const entry of this.#entries.values) entry.mayHaveMissed();
  }

  cut(): void {
    if (!this.#link) return;
    this.#link = undefined;
    this.#linked = quietDeferred();
    this.leases.check();
    this.leases.suspend();
  }

  /**
   * Ends the session: its requests reject.
   * @param leases `'kept'`: its leases stay until the deadline, so that another session may adopt them
   */
  end(why: string, leases: 'lost' | 'kept' = 'lost'): void {
    if (this.#over) return;
    this.cut();
    this.#over = new SessionEndedError(why);
    this.#linked.reject(this.#over);
    this.#doubted?.reject(this.#over);
    if (leases === 'kept') {
      this.#keepsLeaving = true;
      const waiting = this.#entries.values.filter((entry) => !isHold(entry));
      for (const place of waiting.flatMap(({ places }) => places ?? [])) this.#leaving.add(place);
    }
    for (const entry of this.#entries.values) entry.sessionEnded?.(this.#over);
    if (leases === 'lost') this.leases.close(why);
  }

  /** Registers an entry, and returns its number. */
  enter(entry: OwnEntry): number {
    const number = ++this.#numbers;
    this.own(number, entry);
    return number;
  }

  /** Registers another object for an entry. */
  own(number: number, entry: OwnEntry): void {
    this.#entries.set(String(number), entry);
  }

  owns(number: number, entry: OwnEntry): boolean {
    return this.#entries.get(String(number)) === entry;
  }

  /** Prepares all held entries for another session. */
  movesTo(session: RedisSession): readonly Move[] {
    return this.#entries.values.flatMap((entry) => entry.moveTo?.(session) ?? []);
  }

  forget(number: number): void {
    this.#entries.delete(String(number));
  }

  /** Passes a message of the session's channel on. */
  received(message: string): void {
    const [what = '', number = '', token = '', wanted = ''] = message.split(' ');
    this.#entries.get(number)?.told(what, token, wanted);
  }

  /**
   * Runs a script, again after a connection was lost without its answer.
   * @param values the values after the head's; they may depend on whether the script may have run before
   * @throws SessionEndedError, RefusedError, `signal.reason`
   */
  async run(
    script: Script,
    keys: readonly string[],
    values: readonly ScriptValue[] | ((again: boolean) => readonly ScriptValue[]),
    { signal = NEVER, inBytes = false, doubt = { isSo: false }, lateMs = 0 }: RunOptions = {},
  ): Promise<Answer> {
    for (;;) {
      signal.throwIfAborted();
      this.#mustLive();
      const link = this.#link ?? (await orAbort(this.#linked.promise, signal));
      const rest = typeof values === 'function' ? values(doubt.isSo) : values;
      let answer: Answer;
      try {
        const asked = link.run({
          script,
          keys: this.#headKeys.concat(keys),
          values: new Array<ScriptValue>(this.server, this.id, this.#linkNumber).concat(rest),
          inBytes,
          signal: lateMs > 0 ? NEVER : signal,
        });
        const reply = await (lateMs > 0 ? orLateAbort(asked, signal, lateMs) : asked);
        answer = answerOf(reply);
      } catch (error) {
        const isAborted = signal.aborted && error === signal.reason;
        if (isAborted || error instanceof LinkLostError) doubt.isSo = true;
        if (!(error instanceof LinkLostError)) throw error;
        if (this.#link === link) this.cut();
        continue;
      }
      // A script with one of these answers has not run.
      const hasRun = answer[0] !== 'NEWSERVER' && answer[0] !== 'GONE';
      // An answer that is not passed on is as good as lost.
      if (this.#over && hasRun) doubt.isSo = true;
      this.#mustLive();
      if (hasRun) return answer;
      await this.#untilKnown(signal);
    }
  }

  /** Removes entries, held or waiting. Resolves when they are gone, or gone with the session. Never rejects. */
  async leave(places: readonly QueuePlace[]): Promise<void> {
    const keys = places.flatMap(({ queue }) => queue);
    const entries = places.map(({ entry }) => entry);
    for (const place of places) this.#leaving.add(place);
    await this.persistently(() => this.run(LEAVE, keys, entries));
    if (this.#keepsLeaving) return;
    for (const place of places) this.#leaving.delete(place);
  }

  /** Removes any number of entries, also those of a former session. Never rejects. */
  async leaveEach(places: readonly QueuePlace[]): Promise<void> {
    const batches: Promise<void>[] = [];
    for (let first = 0; first < places.length; first += MOST_AT_ONCE) {
      batches.push(this.leave(places.slice(first, first + MOST_AT_ONCE)));
    }
    await Promise.all(batches);
  }

  /** The places of a former session that nobody needs any more: of entries that waited, were leaving, or left since. */
  get unclaimed(): readonly QueuePlace[] {
    return [...this.#leaving];
  }

  /** All places that the session has: of entries that hold, wait or are leaving. */
  get everyPlace(): readonly QueuePlace[] {
    return [...this.#leaving, ...this.#entries.values.flatMap(({ places }) => places ?? [])];
  }

  /** Repeats what a server may refuse, until it is done or the session is over. Never rejects. */
  persistently(ask: () => Promise<unknown>): Promise<void> {
    return untilDone(ask, () => this.isOver);
  }

  /** Removes all entries. Never rejects. */
  leaveAll(): Promise<void> {
    // Waiting entries first: none of them is to be granted when a hold leaves.
    const entries = this.#entries.values.sort((one, other) => Number(isHold(one)) - Number(isHold(other)));
    return this.leaveEach(entries.flatMap(({ places }) => places ?? []));
  }

  /**
   * The renewal finds out what has become of the session. It may live: the clock of the server was wrong for a moment.
   * @throws SessionEndedError, `signal.reason`
   */
  #untilKnown(signal: AbortSignal): Promise<void> {
    this.#doubted ??= quietDeferred();
    const { promise } = this.#doubted;
    this.#listener.doubted();
    return orAbort(promise, signal);
  }

  #mustLive(): void {
    if (this.#over) throw this.#over;
  }
}

function isHold(entry: OwnEntry): boolean {
  return 'moveTo' in entry;
}

/** Returns a reply as an answer. A number alone is the token of a grant. The word may be bytes. */
function answerOf(reply: unknown): Answer {
  if (typeof reply === 'number') return ['GRANTED', reply];
  if (!Array.isArray(reply)) return [String(reply)];
  const [word] = reply as readonly unknown[];
  return typeof word === 'string' ? (reply as unknown as Answer) : [String(word), ...reply.slice(1)];
}
