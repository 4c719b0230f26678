import type { Socket } from 'node:net';
import type { Acl } from '../../../zookeeper/wire/records.js';
import { answer, isGoodbye, placeOf, refusal } from '../requests/answer.js';
import type { Answer } from '../requests/answer.js';
import type { Client } from '../requests/client.js';
import type { Session, SessionConnection } from '../sessions/session.js';
import { Permission, permits } from '../tree/acl.js';
import type { Identity } from '../tree/identity.js';
import type { WatchEvent } from '../watches/watch-event.js';
import type { Watcher } from '../watches/watch-table.js';
import { connectResponse, NO_SUCH_SESSION, readConnectRequest } from '../wire/connect-request.js';
import type { ConnectRequest } from '../wire/connect-request.js';
import { eventFrame } from '../wire/reply-writer.js';
import type { ServerContext } from './context.js';
import { Inbox } from './inbox.js';
import { Outbox } from './outbox.js';

/** The largest amount of unread answers, in bytes. Beyond it, nothing is read from the client until it reads them. */
const LARGEST_BACKLOG = 4 * 1024 * 1024;
/** The number of requests that may wait for their answers, like `globalOutstandingLimit`. */
const MOST_OUTSTANDING = 1_000;

/** One client's connection. Handles requests one after the other, and sends answers and events in ZooKeeper's order. */
export class Connection implements Watcher, SessionConnection {
  readonly address: string;
  readonly outbox: Outbox;
  readonly openedAt = Date.now();
  received = 0;
  sent = 0;
  readonly #socket: Socket;
  readonly #context: ServerContext;
  readonly #inbox: Inbox;
  readonly #identities: Identity[];
  #client: Client | undefined;
  /** The number of requests that wait for their answers. */
  #outstanding = 0;
  /** Whether a request to open or close the session is pending. No other request is handled before it is done. */
  #isWaiting = false;
  #isWorking = false;
  #isPaused = false;
  #isDeaf = false;
  #isOver = false;

  constructor(socket: Socket, context: ServerContext) {
    this.address = addressOf(socket);
    this.outbox = new Outbox(socket, () => this.#work());
    this.#socket = socket;
    this.#context = context;
    this.#inbox = new Inbox(socket, context.maxBufferBytes);
    this.#identities = [{ scheme: 'ip', id: (socket.remoteAddress ?? '').replace(/^::ffff:/, '') }];
    socket.on('close', () => this.#leave());
  }

  get session(): Session | undefined {
    return this.#client?.session;
  }

  get watchedPaths(): string[] {
    const { data, children } = this.#context.replica.watches;
    return [...new Set([...data.pathsOf(this), ...children.pathsOf(this)])];
  }

  get isIdle(): boolean {
    return this.#isPaused || this.#isDeaf || (this.#inbox.isEmpty && this.outbox.isEmpty);
  }

  receive(bytes: Buffer): void {
    if (this.#isDeaf || this.#isOver) return;
    this.#unlessHostile(() => this.#inbox.push(bytes));
    this.#work();
  }

  notify(event: WatchEvent, path: string, acl?: readonly Acl[]): void {
    if (acl && !permits(acl, Permission.read, this.#identities)) return;
    const tell = () => this.#say(eventFrame(event, path));
    if (!this.#context.heldEvents.keeps(path, tell)) tell();
  }

  close(): void {
    this.#leave();
    // The closing of a half-open connection is not reported to the client.
    if (!this.#isDeaf) this.outbox.end();
  }

  /** Called when its session has ended. A connection that has requested this waits for the answer. */
  endWithSession(): void {
    if (!this.#isWaiting) this.close();
  }

  /**
   * Ends the connection whatever the network faults are: `fin` once everything is sent, `rst` as if the server had
   * died.
   */
  disconnect(how: 'fin' | 'rst'): void {
    this.#leave();
    if (how === 'rst' || this.#isDeaf) return void this.#socket.resetAndDestroy();
    this.outbox.release();
    this.outbox.end();
  }

  /** Stops reading and sending until `resume()`. */
  pause(): void {
    this.#isPaused = true;
    this.outbox.hold();
  }

  resume(): void {
    this.#isPaused = false;
    this.outbox.release();
    this.#work();
  }

  /** Receives everything; does and sends nothing. This cannot be undone: `heal()` resets the connection. */
  blackHole(): void {
    this.#isDeaf = true;
    this.outbox.hold();
  }

  heal(): void {
    this.outbox.delay(0);
    if (this.#isDeaf) this.#socket.resetAndDestroy();
    else this.resume();
  }

  #work(): void {
    // An answer that is available at once requests more work while this one is being done.
    if (this.#isWorking) return;
    this.#isWorking = true;
    while (this.#mayWork()) {
      const frame = this.#inbox.next();
      if (!frame) break;
      this.#unlessHostile(() => this.#handle(frame));
    }
    this.#isWorking = false;
  }

  #mayWork(): boolean {
    if (this.#isWaiting || this.#isPaused || this.#isDeaf) return false;
    return this.outbox.backlog < LARGEST_BACKLOG && this.#outstanding < MOST_OUTSTANDING;
  }

  /** Runs `work`. Whatever a client sends, it ends no more than this connection. */
  #unlessHostile(work: () => void): void {
    try {
      work();
    } catch (error) {
      // A RangeError means that the bytes are not ZooKeeper's protocol. Any other error is a defect of this server, and
      // is reported.
      if (!(error instanceof RangeError)) process.emitWarning(error instanceof Error ? error : String(error));
      this.#inbox.clear();
      this.#socket.destroy();
    }
  }

  #handle(frame: Buffer): void {
    this.received++;
    if (this.#client) this.#request(frame, this.#client);
    else this.#greet(frame);
  }

  #greet(frame: Buffer): void {
    const request = readConnectRequest(frame);
    const { database, leadership, longestSessionMs, replica } = this.#context;
    // A client that has seen a later transaction than this server must find another server.
    if (request.lastZxidSeen > replica.zxid) return void this.#socket.destroy();
    const welcome = (session: Session | undefined) => this.#welcome(request, session);
    const timeoutMs = Math.min(request.timeoutMs, longestSessionMs);
    this.#isWaiting = true;
    if (request.sessionId === 0n) {
      return leadership.commit(() => database.openSession(timeoutMs, leadership), welcome);
    }
    // As in ZooKeeper, an older connection of the session ends first, even if the password then proves wrong.
    this.#context.closeConnections(request.sessionId);
    if (!database.sessions.isPassword(request.sessionId, request.password)) return welcome(undefined);
    leadership.renew(request.sessionId, timeoutMs, welcome);
  }

  #welcome(request: ConnectRequest, session: Session | undefined): void {
    if (this.#isOver) return;
    this.#isWaiting = false;
    this.#say(connectResponse(session ?? NO_SUCH_SESSION, request.hasReadOnlyFlag));
    if (!session) return this.close();
    const { database, replica, rules } = this.#context;
    session.connection = this;
    const prove = (identity: Identity) => this.#prove(identity);
    this.#client = { database, replica, session, rules, prove, watcher: this, identities: this.#identities };
    this.#context.greeted(session, request.timeoutMs);
    this.#work();
  }

  #prove(identity: Identity): void {
    if (!this.#identities.some(({ scheme, id }) => scheme === identity.scheme && id === identity.id)) {
      // The address is the last identity, as in the server's answer to `whoAmI`.
      this.#identities.splice(-1, 0, identity);
    }
  }

  #request(frame: Buffer, client: Client): void {
    this.#context.leadership.touch(client.session);
    const planned = this.#context.faults.take(frame);
    const fault = planned?.fault;
    const give = (answered: Answer | undefined) => {
      planned?.happened();
      if (!answered || fault?.type === 'loseReply') this.disconnect('rst');
      else this.#deliver(answered);
    };
    if (fault?.type === 'loseRequest') return give(undefined);
    const place = placeOf(frame);
    if (fault?.type === 'fail') this.#join(client)(() => give(refusal(frame, client, fault.code)));
    else if (place === 'atOnce') give(answer(frame, client));
    else if (place === 'inTurn') this.#join(client)(() => give(answer(frame, client)));
    else this.#ask(frame, client, place, give);
  }

  /**
   * Reserves a position among the session's answers. A connection that is over keeps its positions, and sends nothing
   * in them.
   */
  #join({ session }: Client): (give: () => void) => void {
    this.#outstanding++;
    const answered = this.#context.answersOf(session).join();
    return (give) =>
      answered(() => {
        this.#outstanding--;
        if (!this.#isOver) this.#unlessHostile(give);
      });
  }

  /** Has the leader execute the request. The answer is sent when this server has applied the result. */
  #ask(frame: Buffer, client: Client, place: 'quorum' | 'leader', give: (answered: Answer) => void): void {
    const { leadership, replica } = this.#context;
    const answered = this.#join(client);
    const done = (decided: Answer | undefined) => {
      if (!decided) {
        // Closed first: the requests behind this one on this connection have no answer either.
        this.close();
        return answered(() => {});
      }
      replica.whenKnown(decided.zxid, () => {
        answered(() => give(decided));
        this.#work();
      });
    };
    this.#isWaiting = isGoodbye(frame);
    if (place === 'quorum') leadership.commit(() => this.#decide(frame, client), done);
    else leadership.sync((zxid) => answer(frame, client, zxid), done);
  }

  /** Executes a request on the leader. A session that has moved to another server can request nothing here. */
  #decide(frame: Buffer, client: Client): Answer | undefined {
    const { database, leadership } = this.#context;
    if (!isGoodbye(frame) && !database.sessions.claim(client.session, leadership)) return undefined;
    let answered: Answer | undefined;
    this.#unlessHostile(() => (answered = answer(frame, client)));
    return answered;
  }

  #deliver({ frame, isLast }: Answer): void {
    this.#say(frame);
    if (isLast) this.close();
  }

  #say(frame: Buffer): void {
    if (this.#isOver) return;
    this.sent++;
    this.outbox.push(frame);
  }

  /** Detaches the connection from its session, however long its socket takes to close. */
  #leave(): void {
    this.#isOver = true;
    this.#inbox.clear();
    this.#context.replica.watches.removeAll(this);
    if (this.session?.connection === this) this.session.connection = undefined;
  }
}

export function addressOf({ remoteAddress = '', remotePort = 0 }: Socket): string {
  return `${remoteAddress}:${remotePort}`;
}
