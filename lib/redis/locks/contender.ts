import { listenTo } from '../../async/abort.js';
import type { AbortListener } from '../../async/abort.js';
import type { Place } from '../../async/collections.js';
import { deferred } from '../../async/deferred.js';
import type { Deferred } from '../../async/deferred.js';
import { settledWithin } from '../../async/timer.js';
import type { Alarm } from '../../async/timer.js';
import { SessionEndedError } from '../../sessions/backend-sessions.js';
import { LOOK } from '../scripts/lock-scripts.js';
import { entryText } from '../session/entry.js';
import type { Entry } from '../session/entry.js';
import { RedisHold } from '../session/redis-hold.js';
import type { Granted } from '../session/redis-hold.js';
import type { QueueKeys } from '../session/redis-keys.js';
import type { OwnEntry, QueuePlace, RedisSession } from '../session/redis-session.js';
import type { RedisReport } from '../session/session-report.js';

/** One request for a place in a wait queue. */
export interface Wanted {
  /** The key as the application wrote it. */
  readonly name: string;
  readonly queue: QueueKeys;
  readonly entry: Omit<Entry, 'session' | 'number' | 'since'>;
  /** The time that a release waits for its answer. */
  readonly releaseTimeoutMs: number;
  /** The longest time without looking at an entry that waits: a message may be lost. */
  readonly lookEveryMs: number;
  readonly report?: RedisReport;
}

/** The answer of a script about one entry. */
export type Position = readonly [state: 'g' | 'w' | '0', value?: string | number, isWanted?: number];

/** The entry is not where it was put: the server's data were removed. The request may begin again. */
export class EntryGoneError extends SessionEndedError {
  constructor() {
    super('its entry is gone');
  }
}

/** An entry of this process in a wait queue, until it is granted or has left. */
export class Contender implements OwnEntry, Alarm, AbortListener {
  readonly place: QueuePlace;
  due = 0;
  readonly #session: RedisSession;
  readonly #wanted: Wanted;
  readonly #entry: Entry;
  #granted: Deferred<RedisHold> | undefined;
  #hold: RedisHold | undefined;
  #error: SessionEndedError | undefined;
  #isOver = false;
  /** Whether the request that makes the entry was answered. */
  #isAnswered = false;
  /** Messages to the hold that came before the answer that grants it: they have a connection of their own. */
  #overtaking: string[] | undefined;
  #nextLook: Place<unknown> | undefined;
  #listening: Place<unknown> | undefined;

  constructor(session: RedisSession, wanted: Wanted) {
    this.#session = session;
    this.#wanted = wanted;
    const { mode, isCandidate, permits, most, keeps, label } = wanted.entry;
    const number = session.enter(this);
    const since = Math.round(session.serverNow);
    this.#entry = { mode, isCandidate, session: session.id, number, permits, most, since, keeps, label };
    this.place = { queue: wanted.queue, entry: entryText(this.#entry) };
  }

  get places(): readonly QueuePlace[] {
    return [this.place];
  }

  /** Applies the answer of a script. A message may have come before it. */
  stands([state, value, isWanted]: Position): void {
    this.#isAnswered = true;
    // It was taken away, and the request may have been sent again since: nobody would release what it made anew.
    if (this.#error && state !== '0') void this.#session.leave([this.place]);
    if (this.#isOver) return;
    if (state === 'g') return this.#grant({ token: String(value), isWanted: isWanted === 1 });
    if (state === '0') return this.#end(new EntryGoneError());
    this.#lookIn(Number(value));
  }

  told(what: string, token: string, isWanted: string): void {
    if (this.#isOver) return;
    if (what === 'g') this.#grant({ token, isWanted: isWanted === '1' });
    else if (what === 'x') this.#end(new EntryGoneError());
    else (this.#overtaking ??= []).push(what);
  }

  mayHaveMissed(): void {
    // The answer tells where the entry stands. A look that overtook the request would not find it.
    if (this.#isAnswered && !this.#isOver) this.#lookIn(0);
  }

  /**
   * Resolves when the entry is granted.
   * @throws SessionEndedError; `signal.reason` after the entry has left
   */
  async untilGranted(signal: AbortSignal): Promise<RedisHold> {
    if (this.#hold) return this.#hold;
    if (this.#error) throw this.#error;
    const { promise } = (this.#granted = deferred<RedisHold>());
    this.#listening = listenTo(signal, this);
    return promise;
  }

  aborted(reason: unknown): void {
    if (!this.#isOver) void this.leave().then(() => this.#granted?.reject(reason));
  }

  sessionEnded(error: SessionEndedError): void {
    this.#end(error);
  }

  /** The hold, if it was granted by now. */
  get granted(): RedisHold | undefined {
    return this.#hold;
  }

  /** Leaves the wait queue, or releases what was granted. Never rejects. */
  async leave(): Promise<void> {
    if (this.#hold) return this.#hold.lease.release();
    this.drop();
    const left = this.#session.leave([this.place]);
    // Without a connection the entry is removed later, or ends with its session.
    if (this.#session.isLinked) await settledWithin(left, this.#wanted.releaseTimeoutMs, this.#session.alarms);
  }

  /** Forgets the entry, which is not on the server. */
  drop(): void {
    this.#stop();
    this.#session.forget(this.#entry.number);
  }

  /** Looks at the entry on the server: a message may be lost. */
  ring(): void {
    const { queue, entry } = this.place;
    this.#session.run(LOOK, queue, [entry]).then(
      ([, position]) => this.stands(position as Position),
      // `sessionEnded` came before this when the session is over. A server that refuses is asked again.
      () => !this.#isOver && this.#lookIn(-1),
    );
  }

  #stop(): void {
    this.#isOver = true;
    this.#nextLook?.leave();
    this.#listening?.leave();
  }

  #grant(granted: Granted): void {
    this.#stop();
    const { name, releaseTimeoutMs, report } = this.#wanted;
    const options = { name, place: this.place, releaseTimeoutMs, report };
    const hold = new RedisHold(this.#session, this.#entry, granted, options);
    this.#hold = hold;
    for (const what of this.#overtaking ?? []) hold.told(what);
    this.#granted?.resolve(hold);
  }

  #end(error: SessionEndedError): void {
    if (this.#isOver) return;
    this.drop();
    this.#error = error;
    this.#granted?.reject(error);
  }

  #lookIn(ms: number): void {
    const { lookEveryMs } = this.#wanted;
    this.#nextLook?.leave();
    this.#nextLook = this.#session.alarms.set(ms < 0 ? lookEveryMs : Math.min(ms, lookEveryMs), this);
  }
}
