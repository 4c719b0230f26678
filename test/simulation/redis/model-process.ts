import { entryOf } from './model-server.js';
import type { ModelReply, ModelRequest } from './model-server.js';
import { TTL } from './rules.js';
import type { Rules } from './rules.js';

/** A hold, and the session and entry that it was granted to or has been adopted by. */
interface Hold {
  readonly session: number;
  readonly entry: number;
  readonly token: number;
  /** The deadline of a hold whose session is over. */
  readonly formerDeadline?: number;
  /** Whether the process has believed in it. */
  isBelieved: boolean;
}

interface Session {
  readonly id: number;
  readonly server: number;
  deadline: number;
}

/** The first session, and one after each of two servers or ends. */
const MOST_SESSIONS = 3;

/** The number of the entry of an acquisition, of an adoption, and of one beside it. */
const [ACQUIRED, ADOPTED, BESIDE] = [0, 1, 2];

/** A process that acquires and releases the key, as lib/redis/session behaves. It has one request at a time. */
export class ModelProcess {
  readonly #rules: Rules;
  readonly #number: number;
  #session: Session | undefined;
  #hold: Hold | undefined;
  #sessions = 0;
  #acquisitions: number;
  /** The entry that was written down and that nobody holds any more; 0: none. */
  #leaving = 0;
  #isUnadopted = false;
  /** A planted defect: an adoption beside the repeated one is to be sent, or its entry to be removed. */
  #beside: 'no' | 'to send' | 'to remove' = 'no';
  request: ModelRequest | undefined;
  reply: ModelReply | undefined;
  /** The tick in which the request or the answer under way was found to be late: it takes at least until the next. */
  lateAt = -1;
  /** The index of the server that it is connected to. */
  server = 0;

  constructor(number: number, acquisitions: number, rules: Rules) {
    this.#number = number;
    this.#acquisitions = acquisitions;
    this.#rules = rules;
    this.#session = { id: this.#nextSession(), server: 1, deadline: TTL };
  }

  /** The id of the session that it begins with, on the first server. */
  get firstSession(): number {
    return this.#number * (MOST_SESSIONS + 1) + 1;
  }

  /** The token, while the process believes that it holds the key. */
  belief(now: number): number | undefined {
    const hold = this.#hold;
    return hold && now < this.#deadlineOf(hold) ? hold.token : undefined;
  }

  /** Whether the process has come to believe since the last call. */
  takeNewBelief(now: number): boolean {
    const isNew = this.belief(now) !== undefined && this.#hold?.isBelieved === false;
    if (isNew && this.#hold) this.#hold.isBelieved = true;
    return isNew;
  }

  /** The requests that it may send now. */
  kinds(now: number): readonly ModelRequest['kind'][] {
    const [session, hold] = [this.#session, this.#hold];
    if (this.request) return [];
    if (!session) return this.#sessions < MOST_SESSIONS ? ['join'] : [];
    const isFormer = hold !== undefined && hold.session !== session.id;
    const kinds: ModelRequest['kind'][] = [];
    if (now + TTL > session.deadline) kinds.push('renew');
    if (isFormer && (now < this.#deadlineOf(hold) || !this.#rules.adoptsInTime)) kinds.push('adopt');
    else if (isFormer) this.#hold = undefined;
    if (this.#isUnadopted || (this.#beside === 'to send' && hold && !isFormer)) kinds.push('adopt');
    if (this.#leaving || (hold && !isFormer)) kinds.push('release');
    else if (!this.#hold && this.#acquisitions > 0) kinds.push('acquire');
    return kinds;
  }

  send(kind: ModelRequest['kind'], now: number): void {
    const { server = 0, id = 0 } = this.#session ?? {};
    const session = kind === 'join' ? this.#nextSession() : id;
    const former = this.#hold;
    const entry = this.#entryFor(kind, session);
    this.request = { kind, session, server, sentAt: now, entry, ...(kind === 'adopt' && former && { former }) };
    if (kind !== 'release' || this.#beside === 'to remove') return;
    if (this.#rules.endsAtRelease) this.#hold = undefined;
    this.#leaving = entry;
  }

  /** The request is lost with its connection. */
  lose(): void {
    if (this.request?.kind === 'adopt' && !this.#rules.adoptsOnce) this.#beside = 'to send';
    this.cut();
  }

  /** Another server has taken over, or the connection was lost: an answer that has not come does not come. */
  cut(): void {
    this.request = undefined;
    this.reply = undefined;
  }

  /** Takes the answer. */
  take(now: number): void {
    const [request, reply] = [this.request, this.reply];
    this.cut();
    if (!request || !reply) return;
    const provenAt = this.#rules.deadlineFrom === 'sending' ? request.sentAt : now;
    if (reply.word === 'joined') this.#joined(request.session, reply.server, provenAt + TTL);
    const session = this.#session;
    if (!session || session.id !== request.session) return;
    if (reply.word === 'alive') session.deadline = Math.max(session.deadline, provenAt + TTL);
    if (reply.word === 'another server' || reply.word === 'gone') this.#ended(session, reply.word);
    const { id } = session;
    if (reply.word === 'granted')
      this.#hold = { session: id, entry: request.entry, token: reply.token, isBelieved: false };
    if (reply.word === 'left') this.#left();
    if (reply.word === 'adopted') this.#adopted(session, request.entry, now);
    if (reply.word === 'not adopted') this.#hold = undefined;
  }

  /** Everything that the future depends on. All deadlines that have passed are alike. */
  state(now: number): unknown {
    const [session, hold] = [this.#session, this.#hold];
    const own = [this.#leaving, this.#isUnadopted, this.#beside];
    const rest = [this.#sessions, this.#acquisitions, own, this.server];
    return [
      session && [session.id, session.server, Math.max(session.deadline, now)],
      hold && [hold.session, hold.entry, hold.token, Math.max(hold.formerDeadline ?? 0, now), hold.isBelieved],
      this.request,
      this.reply,
      this.lateAt === now,
      rest,
    ];
  }

  #entryFor(kind: ModelRequest['kind'], session: number): number {
    const hold = this.#hold;
    const isBeside = kind === 'adopt' && hold?.session === session && !this.#isUnadopted;
    if (isBeside || this.#beside === 'to remove') return entryOf(session, BESIDE);
    if (kind === 'adopt') return entryOf(session, ADOPTED);
    if (kind === 'release') return this.#leaving || (hold?.entry ?? 0);
    return kind === 'acquire' ? entryOf(session, ACQUIRED) : 0;
  }

  #nextSession(): number {
    return this.#number * (MOST_SESSIONS + 1) + ++this.#sessions;
  }

  #joined(id: number, server: number, deadline: number): void {
    this.#session = { id, server, deadline };
    this.#leaving = 0;
    this.#beside = 'no';
    if (!this.#hold || this.#rules.adopts === 'until its answer') return;
    // A planted defect: the hold has the new deadline, although the server does not know it.
    const { token, isBelieved } = this.#hold;
    this.#hold = { session: id, entry: entryOf(id, ADOPTED), token, isBelieved };
    this.#isUnadopted = this.#rules.adopts === 'before its answer';
  }

  #ended(session: Session, why: 'another server' | 'gone'): void {
    const hold = this.#hold;
    this.#session = undefined;
    if (hold?.session !== session.id) return;
    this.#hold = why === 'gone' ? undefined : { ...hold, formerDeadline: session.deadline };
  }

  #left(): void {
    if (this.#beside === 'to remove') return void (this.#beside = 'no');
    if (this.#leaving && this.#acquisitions > 0) this.#acquisitions--;
    this.#leaving = 0;
    this.#hold = undefined;
  }

  #adopted({ id }: Session, entry: number, now: number): void {
    const hold = this.#hold;
    this.#isUnadopted = false;
    if (entry === entryOf(id, BESIDE)) return void (this.#beside = 'to remove');
    if (!hold) return;
    const isPassed = now >= this.#deadlineOf(hold) && this.#rules.adoptsInTime;
    this.#hold = isPassed ? undefined : { session: id, entry, token: hold.token, isBelieved: hold.isBelieved };
    this.#leaving = isPassed ? entry : 0;
  }

  #deadlineOf({ session, formerDeadline = 0 }: Hold): number {
    return session === this.#session?.id ? this.#session.deadline : formerDeadline;
  }
}
