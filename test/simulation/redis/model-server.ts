import { TTL } from './rules.js';
import type { Rules } from './rules.js';

/** Tokens of one tick of the clock. */
const TOKENS_A_TICK = 8;

/** More than the entries of a session. */
const ENTRIES = 4;

/** Returns an entry of a session. */
export function entryOf(session: number, number: number): number {
  return session * ENTRIES + number;
}

function sessionOf(entry: number): number {
  return Math.floor(entry / ENTRIES);
}

/** A hold as it is on record. */
interface RecordedHold {
  readonly entry: number;
  readonly token: number;
}

/** The data of a server with one key. A session is a number, and so is an entry. */
export interface ServerData {
  /** The server that the data belong to, as it is on record; 0: none. */
  record: number;
  /** The time until which the server settles. */
  until: number;
  /** The ends of sessions. */
  sessions: Record<number, number>;
  holder: RecordedHold | undefined;
  /** The entries that wait. */
  waiting: number[];
  lastToken: number;
}

/** A request of a process. */
export interface ModelRequest {
  readonly kind: 'join' | 'renew' | 'acquire' | 'release' | 'adopt';
  readonly session: number;
  /** The server that the sender knows. */
  readonly server: number;
  readonly sentAt: number;
  /** The entry that it is about; 0: none. */
  readonly entry: number;
  /** The hold that is adopted. */
  readonly former?: RecordedHold;
}

export type ModelReply =
  | { readonly word: 'joined'; readonly server: number }
  | { readonly word: 'granted'; readonly token: number }
  | { readonly word: 'alive' | 'waiting' | 'left' | 'adopted' | 'not adopted' | 'another server' | 'gone' | 'refused' };

/** The first token of a tick of the clock. */
export function tokensAt(now: number): number {
  return now * TOKENS_A_TICK;
}

export function emptyData(): ServerData {
  return { record: 0, until: 0, sessions: {}, holder: undefined, waiting: [], lastToken: 0 };
}

export function copyOf(data: ServerData): ServerData {
  return { ...data, sessions: { ...data.sessions }, waiting: [...data.waiting] };
}

/** A server, as the scripts of lib/redis/scripts behave. */
export class ModelServer {
  readonly #rules: Rules;

  /** @param id the replication id */
  constructor(
    readonly id: number,
    readonly data: ServerData,
    rules: Rules,
  ) {
    this.#rules = rules;
  }

  run(request: ModelRequest, now: number): ModelReply {
    const { kind, session, server, entry } = request;
    const { data } = this;
    if (kind === 'join') return this.#join(session, now);
    // While nobody waits, a release grants nothing, so any server takes it.
    if (kind === 'release' && data.waiting.length === 0) return this.#release(entry, now);
    const isAnother = server !== this.id || data.record !== this.id;
    if (isAnother && this.#rules.comparesServers) return { word: 'another server' };
    if (kind === 'renew' && this.#rules.revives && data.sessions[session] !== undefined)
      return this.#renew(session, now);
    if (!this.#isAlive(session, now)) return { word: 'gone' };
    if (kind === 'renew') return this.#renew(session, now);
    if (kind === 'acquire') return this.#acquire(entry, now);
    if (kind === 'adopt') return this.#adopt(request, now);
    return this.#release(entry, now);
  }

  /** Everything that the future depends on. Sessions that are over are as if they were not there. */
  state(now: number): unknown {
    const { record, until, sessions, holder, waiting, lastToken } = this.data;
    const { revives, clockInTokens } = this.#rules;
    const living = Object.entries(sessions).filter(([, end]) => end > now || revives);
    const last = clockInTokens ? Math.max(lastToken, tokensAt(now) - 1) : lastToken;
    return [this.id, record, Math.max(until, now), living, holder, waiting, last];
  }

  #join(session: number, now: number): ModelReply {
    const { data } = this;
    if (data.record !== this.id) {
      data.sessions = {};
      data.until = now + this.#rules.settling;
      data.record = this.id;
    }
    data.sessions[session] = now + TTL;
    return { word: 'joined', server: this.id };
  }

  #renew(session: number, now: number): ModelReply {
    this.data.sessions[session] = now + TTL;
    return { word: 'alive' };
  }

  #acquire(entry: number, now: number): ModelReply {
    const { data } = this;
    if (!data.waiting.includes(entry) && data.holder?.entry !== entry) data.waiting.push(entry);
    if (this.#mayGrant(now)) {
      if (data.holder && !this.#isAlive(sessionOf(data.holder.entry), now)) data.holder = undefined;
      this.#grantNext(now);
    }
    return data.holder?.entry === entry ? { word: 'granted', token: data.holder.token } : { word: 'waiting' };
  }

  #release(entry: number, now: number): ModelReply {
    const { data } = this;
    const wasHeld = data.holder?.entry === entry;
    if (wasHeld) data.holder = undefined;
    data.waiting = data.waiting.filter((one) => one !== entry);
    // The recorded holder of an exclusive lock hands over at any time.
    if (wasHeld || this.#mayGrant(now)) this.#grantNext(now);
    return { word: 'left' };
  }

  #adopt({ entry, former }: ModelRequest, now: number): ModelReply {
    const { data } = this;
    if (!former) return { word: 'not adopted' };
    const { holder } = data;
    const isKnown = holder?.entry === former.entry && holder.token === former.token;
    const isLate = now >= data.until && this.#rules.adoptsInTime;
    if (isLate && !isKnown && holder?.entry !== entry) return { word: 'not adopted' };
    if (holder && holder.token > former.token) return { word: 'not adopted' };
    data.holder = { entry, token: former.token };
    data.lastToken = Math.max(data.lastToken, former.token);
    return { word: 'adopted' };
  }

  #grantNext(now: number): void {
    const { data } = this;
    while (!data.holder && data.waiting.length > 0) {
      const entry = data.waiting.shift() ?? 0;
      if (!this.#isAlive(sessionOf(entry), now)) continue;
      const least = this.#rules.clockInTokens ? tokensAt(now) : 0;
      data.lastToken = Math.max(data.lastToken + 1, least);
      data.holder = { entry, token: data.lastToken };
    }
  }

  #mayGrant(now: number): boolean {
    return now >= this.data.until || !this.#rules.refusesUnsettled;
  }

  #isAlive(session: number, now: number): boolean {
    return (this.data.sessions[session] ?? 0) > now;
  }
}
