import { onAbort } from '../../async/abort.js';
import type { Dispose } from '../../async/abort.js';
import { deferred } from '../../async/deferred.js';
import { settledWithin } from '../../async/timer.js';
import { SessionEndedError } from '../../sessions/backend-sessions.js';
import type { QueueKeys } from '../session/etcd-keys.js';
import type { EtcdSession } from '../session/etcd-session.js';
import { newEntry, turnsOf } from './entry.js';
import type { Entry, EntryValue } from './entry.js';
import { EtcdHold } from './etcd-hold.js';
import type { Place, QueueState, ViewFollower } from './queue-view.js';
import type { Wanted } from './wanted.js';

/** The entry is not where it was put: it was removed. The request may begin again. */
export class EntryGoneError extends SessionEndedError {
  constructor() {
    super('its entry is gone');
  }
}

/** An entry of this process in a wait queue, until it is granted or has left. */
export class Contender implements ViewFollower {
  readonly entryKey: string;
  readonly value: EntryValue;
  created = 0;
  readonly isWaiting = true;
  readonly #session: EtcdSession;
  readonly #wanted: Wanted;
  readonly #granted = deferred<EtcdHold>();
  #hold: EtcdHold | undefined;
  #isOver = false;
  #leaveView: Dispose = () => {};
  #left: Promise<void> | undefined;

  constructor(session: EtcdSession, wanted: Wanted) {
    this.#session = session;
    this.#wanted = wanted;
    this.entryKey = wanted.queue.own + session.takeName();
    this.value = newEntry(wanted.entry);
    this.#granted.promise.catch(() => {});
  }

  get queue(): QueueKeys {
    return this.#wanted.queue;
  }

  /**
   * Begins to wait, or is granted at once.
   * @param created revision of the entry's creation
   * @param state the queue with the entry; `undefined`: it was not read
   */
  stands(created: number, state: QueueState | undefined): void {
    this.created = created;
    if (state && this.#isAtOnce(state)) return;
    const leave = this.#wanted.views.follow(this.#session, this.queue, this, state);
    if (this.#isOver) leave();
    else this.#leaveView = leave;
  }

  /** Is granted by the request that entered the queue. */
  takes(created: number): void {
    this.created = created;
    this.#grant({ ...this.value, key: this.entryKey, created, modified: created }, undefined);
  }

  placed(place: Place | undefined): void {
    if (this.#isOver) return;
    // A server may have forgotten the event of its creation: an entry that stands would be in the way of all others.
    if (!place) void this.leave().then(() => this.#granted.reject(new EntryGoneError()));
    else if (place.isTurn) this.#grant(place.entry, place.isWanted);
  }

  /**
   * Resolves when the entry is granted.
   * @throws SessionEndedError; `signal.reason` after the entry has left
   */
  async untilGranted(signal: AbortSignal): Promise<EtcdHold> {
    const dispose = onAbort(signal, (reason) => {
      if (!this.#isOver) void this.leave().then(() => this.#granted.reject(reason));
    });
    const ended = this.#session.onEnd((error) => this.#end(error));
    return this.#granted.promise.finally(() => {
      dispose();
      ended();
    });
  }

  /** The hold, if it was granted by now. */
  get granted(): EtcdHold | undefined {
    return this.#hold;
  }

  /**
   * Leaves the wait queue, or releases what was granted. Never rejects.
   * @param sent settles when the request that enters the queue cannot be carried out any more
   */
  leave(sent: Promise<unknown> = Promise.resolve()): Promise<void> {
    // Once: its name is given back then.
    return (this.#left ??= this.#depart(sent));
  }

  async #depart(sent: Promise<unknown>): Promise<void> {
    if (this.#hold) return this.#hold.lease.release();
    this.#drop();
    const remove = () => this.#session.removeEntry(this.entryKey);
    const left = sent.then(remove, remove);
    // Without a connection the key is removed later, or ends with its session.
    if (this.#session.isLinked) await settledWithin(left, this.#wanted.releaseTimeoutMs, this.#session.alarms);
  }

  #isAtOnce({ entries, number }: QueueState): boolean {
    const turns = turnsOf(entries, number);
    const place = entries.findIndex(({ key }) => key === this.entryKey);
    const entry = entries[place];
    if (entry && place < turns) this.#grant(entry, turns < entries.length ? true : undefined);
    return this.#isOver;
  }

  #grant(entry: Entry, isWanted: boolean | undefined): void {
    // A grant after the end of the lease would be valid for no time at all.
    if (this.#session.isOver) return;
    this.#hold = new EtcdHold(this.#session, entry, isWanted, this.#wanted);
    this.#drop();
    this.#granted.resolve(this.#hold);
  }

  #end(error: unknown): void {
    if (this.#isOver) return;
    this.#drop();
    this.#granted.reject(error);
  }

  #drop(): void {
    this.#isOver = true;
    this.#leaveView();
  }
}
