import { now } from '../../async/clock.js';
import type { Place } from '../../async/collections.js';
import { deferred } from '../../async/deferred.js';
import { settledWithin } from '../../async/timer.js';
import { LockLostError } from '../../contract/errors.js';
import { fencingTokenOf } from '../../contract/granted-lease.js';
import { GrantedLease } from '../../contract/granted-lease.js';
import type { Demand, Grant, LeaseFollower } from '../../contract/granted-lease.js';
import type { LeaseMode } from '../../contract/lease.js';
import type { Script } from '../client/script.js';
import { DOWNGRADE, LOOK } from '../scripts/lock-scripts.js';
import { entryText } from './entry.js';
import type { Entry } from './entry.js';
import type { Answer, Move, OwnEntry, QueuePlace, RedisSession } from './redis-session.js';
import type { RedisReport } from './session-report.js';

/** A grant as scripts answer it. */
export interface Granted {
  readonly token: string;
  /** Whether another entry waits. */
  readonly isWanted: boolean;
}

interface HoldOptions {
  /** The key as the application wrote it. */
  readonly name: string;
  /** Where the entry stands. */
  readonly place: QueuePlace;
  readonly releaseTimeoutMs: number;
  /** The log of the connection, for what no caller is told. */
  readonly report?: RedisReport | undefined;
}

const NOT_YET: OwnEntry = { told() {}, mayHaveMissed() {} };

/** A held entry: the grant behind a lease. */
export class RedisHold implements Grant, OwnEntry {
  readonly key: string;
  readonly fencingToken: bigint;
  readonly lease: GrantedLease;
  readonly demand: Demand | undefined;
  readonly #options: HoldOptions;
  readonly #token: string;
  readonly #wanted = new Wanted();
  readonly #onMoved: (() => void)[] = [];
  #session: RedisSession;
  #entry: Entry;
  #place: QueuePlace;
  /** Whether a downgrade was asked for and is not known to be done: the entry is the writer's, or already the reader's. */
  #mayBeReader = false;
  /** The value that was published last. */
  #published: string | undefined;
  #carried: Place<GrantedLease>;
  /** The session of another server that has been asked to adopt this, and has not answered. */
  #movingTo: RedisSession | undefined;

  constructor(session: RedisSession, entry: Entry, { token, isWanted }: Granted, options: HoldOptions) {
    this.key = options.name;
    this.fencingToken = fencingTokenOf(BigInt(token));
    this.#token = token;
    this.#session = session;
    this.#entry = entry;
    this.#options = options;
    this.#place = options.place;
    if (isWanted) this.#wanted.set();
    this.demand = entry.mode === 'permit' ? undefined : this.#wanted;
    this.lease = new GrantedLease(this as Grant);
    this.#carried = this.#enter(session);
  }

  get mode(): LeaseMode {
    return this.#entry.mode;
  }

  get places(): readonly QueuePlace[] {
    return this.#mayBeReader ? this.#readOrWritten : [this.#place];
  }

  isCurrent(): boolean {
    return now() < this.#session.deadline;
  }

  giveBack(): Promise<void> {
    this.#leave();
    const left = this.#session.leave(this.places);
    // Without a connection the entry is removed later, or ends with its session.
    if (!this.#session.isLinked) return Promise.resolve();
    return settledWithin(left, this.#options.releaseTimeoutMs, this.#session.alarms);
  }

  /** A request that is not answered in time continues in the background. */
  downgrade(): Promise<void> {
    return settledWithin(this.#becomeReader(), this.#options.releaseTimeoutMs, this.#session.alarms);
  }

  async #becomeReader(): Promise<void> {
    const reader = readerOf(this.#entry);
    const { queue, entry } = this.#place;
    const read = entryText(reader);
    this.#mayBeReader = true;
    const isDone = await this.#session.run(DOWNGRADE, queue, [entry, read]).then(
      () => true,
      (error: Error) => {
        if (this.lease.isHeld()) this.#options.report?.staysWriter(this.key, error.message);
        return false;
      },
    );
    if (!isDone) return;
    this.#entry = reader;
    this.#place = { queue, entry: read };
    this.#mayBeReader = false;
  }

  /** Runs a script that publishes a value of the hold. @throws SessionEndedError, RefusedError */
  async publish(script: Script, value: string): Promise<Answer> {
    const { queue, entry } = this.#place;
    const answer = await this.#session.run(script, queue, [entry, value]);
    if (answer[0] === 'DONE') this.#published = value;
    return answer;
  }

  /** Resolves when the hold has moved to another session, or is over. */
  async untilMoved(): Promise<void> {
    const moved = deferred();
    const done = () => moved.resolve();
    const over: LeaseFollower = { suspend() {}, resume() {}, revoke() {}, lose: done, releasing: done };
    this.#onMoved.push(done);
    this.lease.addFollower(over);
    if (this.lease.isHeld()) await moved.promise;
    this.lease.removeFollower(over);
  }

  told(what: string): void {
    if (what === 'w') this.#wanted.set();
    if (what === 'r') this.lease.revoke();
    if (what === 'x') this.#takenAway();
  }

  mayHaveMissed(): void {
    void this.#session.persistently(() => this.#look());
  }

  /** Asks where the entry stands. @throws RefusedError, SessionEndedError */
  async #look(): Promise<void> {
    if (!this.lease.isHeld()) return;
    // A writer's entry may become a reader's before this is answered.
    const places = this.mode === 'write' ? this.#readOrWritten : [this.#place];
    const keys = places.flatMap(({ queue }) => queue);
    const entries = places.map(({ entry }) => entry);
    const [, ...positions] = await this.#session.run(LOOK, keys, entries).catch((error: unknown) => {
      // Until this is known, others may wait.
      this.#wanted.set();
      throw error;
    });
    const held = (positions as [string, string, number][]).find(([state]) => state === 'g');
    if (!held) this.#takenAway();
    else if (held[2] === 1) this.#wanted.set();
  }

  moveTo(session: RedisSession): Move | undefined {
    // A session repeats its requests by itself. A second entry would make the server forget the first one.
    if (!this.isCurrent() || this.#movingTo === session) return undefined;
    this.#movingTo = session;
    const former = { session: this.#session, number: this.#entry.number };
    // Other readers may have been admitted already.
    const present = this.#mayBeReader ? readerOf(this.#entry) : this.#entry;
    const moved: Entry = { ...present, session: session.id, number: session.enter(NOT_YET) };
    const place = { queue: this.#place.queue, entry: entryText(moved) };
    const isPassed = () => !former.session.owns(former.number, this) || !this.isCurrent();
    const done = (isAdopted: boolean) => {
      this.#movingTo = undefined;
      if (isAdopted && !isPassed()) return this.#move(session, moved, place);
      session.forget(moved.number);
      // The lease was released or lost meanwhile, so the entry that was written down must go.
      if (isAdopted) void session.leave([place]);
      else if (former.session.owns(former.number, this))
        this.#lose('the server that took over did not know it in time');
    };
    return { ...place, former: this.#place.entry, token: this.#token, published: this.#published, done };
  }

  #move(session: RedisSession, entry: Entry, place: QueuePlace): void {
    this.#leave();
    this.#session = session;
    this.#entry = entry;
    this.#place = place;
    this.#mayBeReader = false;
    this.#carried = this.#enter(session);
    this.#wanted.set();
    this.lease.resume();
    // Messages to the new entry may have come before this.
    this.mayHaveMissed();
    for (const moved of this.#onMoved.splice(0)) moved();
  }

  /** The places of a writer's entry, and of the reader's that it may become. */
  get #readOrWritten(): readonly QueuePlace[] {
    return [this.#place, { ...this.#place, entry: entryText(readerOf(this.#entry)) }];
  }

  #enter(session: RedisSession): Place<GrantedLease> {
    session.own(this.#entry.number, this);
    return session.leases.add(this.lease);
  }

  #leave(): void {
    this.#carried.leave();
    this.#session.forget(this.#entry.number);
  }

  #takenAway(): void {
    this.#lose('it was taken away by force, or its record is gone');
  }

  #lose(why: string): void {
    this.#leave();
    this.lease.lose(new LockLostError(this.key, why));
  }
}

function readerOf(entry: Entry): Entry {
  return { ...entry, mode: 'read' };
}

/** Tells once that another entry waits. */
class Wanted implements Demand {
  #isSo = false;
  #onDemand: (() => void) | undefined;

  set(): void {
    const onDemand = this.#onDemand;
    this.#isSo = true;
    this.#onDemand = undefined;
    onDemand?.();
  }

  watch(onDemand: () => void, onNone: () => void): () => void {
    this.#onDemand = onDemand;
    // Later, as with a backend that has to ask: the caller is not yet ready for an answer.
    queueMicrotask(() => {
      if (this.#onDemand !== onDemand) return;
      if (this.#isSo) this.set();
      else onNone();
    });
    return () => {
      if (this.#onDemand === onDemand) this.#onDemand = undefined;
    };
  }
}
