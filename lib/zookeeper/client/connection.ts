/**
 * One driver instance, one session: the driver's connection loop, with the parts replaced that would break a lock.
 * - `Dialer` opens sockets, and `Inbound` reads the server's data.
 * - Authentication and watches are sent before anything else on a new connection.
 * - A request that was not sent when a connection ends is never sent later.
 * - Closing completes in every state.
 * - The requests of one turn are sent in one write, see `Outbox`.
 */
import { now } from '../../async/clock.js';
import { settledWithin } from '../../async/timer.js';
import { OpCode, Xid } from '../wire/codes.js';
import { requestFrame } from '../wire/records.js';
import { Dialer } from './dialer.js';
import type { ConnectionOptions, SocketEvents } from './dialer.js';
import { DriverState, openDriver } from './driver.js';
import type { ConnectionManager } from './driver.js';
import { Handshakes } from './handshakes.js';
import type { Ask } from './handshakes.js';
import { Inbound } from './inbound.js';
import { Outbox } from './outbox.js';
import { PendingRequest, readNothing, RequestQueue } from './pending-request.js';
import { resetWatches } from './watch-table.js';
import type { WatchTables } from './watch-table.js';
import type { ClientListener, SessionEnd } from './zookeeper-client.js';

const EMPTY = Buffer.alloc(0);

export class Connection {
  readonly #driver: ConnectionManager;
  readonly #dialer: Dialer;
  readonly #watches: WatchTables;
  readonly #listener: ClientListener;
  readonly #inbound: Inbound;
  readonly #handshakes: Handshakes;
  readonly #queue: RequestQueue;
  /** The requests that are sent at the end of this turn. */
  readonly outbox = new Outbox((requests) => this.#queue.send(requests));
  #sessionId = 0n;
  #isUp = false;
  #hasEnded = false;
  #closed: Promise<void> | undefined;

  constructor(options: ConnectionOptions, watches: WatchTables, listener: ClientListener) {
    this.#driver = openDriver(options.sessionTimeoutMs);
    this.#dialer = new Dialer(options, this.#socketEvents());
    this.#queue = new RequestQueue(this.#driver);
    this.#handshakes = new Handshakes(this.#driver);
    this.#watches = watches;
    this.#listener = listener;
    this.#inbound = new Inbound(this.#driver, watches, {
      answered: (answer) => {
        this.#dialer.hasAnswered = true;
        listener.answered(answer);
      },
      authenticated: () => this.#connected(),
      unreadable: (error) => this.#dialer.hangUp(error),
    });
    for (const { scheme, credentials } of options.auth) this.#driver.addAuthInfo(scheme, Buffer.from(credentials));
    this.#replaceInternals(options.auth.length);
  }

  open(): void {
    this.#driver.connect();
  }

  get lastError(): Error | undefined {
    return this.#dialer.lastError;
  }

  get latestZxid(): bigint {
    return this.#driver.zxid.readBigInt64BE(0);
  }

  get unansweredSince(): number | undefined {
    const oldest = this.#queue.oldestSentAt;
    const ping = this.#inbound.oldestPingSentAt;
    return oldest === undefined || ping === undefined ? (oldest ?? ping) : Math.min(oldest, ping);
  }

  ping(): void {
    if (this.#driver.state !== DriverState.connected) return;
    this.#inbound.pinged();
    this.#driver.socket?.write(requestFrame(Xid.ping, OpCode.ping, EMPTY));
  }

  drop(): void {
    this.#dialer.hangUp();
  }

  /**
   * Ends the session. A second call waits for the first, because it must not cut off the first call's close request.
   */
  close(deadlineMs: number, why: SessionEnd = 'closed'): Promise<void> {
    return (this.#closed ??= this.#close(deadlineMs, why));
  }

  async #close(deadlineMs: number, why: SessionEnd): Promise<void> {
    if (this.#hasEnded) return;
    if (this.#driver.state === DriverState.connected) {
      const goodbye = this.outbox.add(new PendingRequest(OpCode.closeSession, EMPTY, undefined, readNothing));
      this.outbox.flush();
      this.#stopReconnecting();
      await settledWithin(goodbye, deadlineMs);
    }
    this.#end(why);
  }

  #replaceInternals(auths: number): void {
    const driver = this.#driver;
    const { onSocketConnected, onSocketClosed } = driver;
    driver.onSocketTimeout = () => {};
    driver.connect = () => {
      driver.setState(DriverState.connecting);
      this.#dialer.dial(driver.sessionTimeout);
    };
    driver.onSocketConnected = () => {
      driver.packetQueue.queue.length = 0;
      this.#inbound.unconfirmedAuths = auths;
      this.#handshakes.send(now(), () => onSocketConnected.call(driver));
      resetWatches(this.#watches, this.latestZxid, (request) => this.#queue.add(request));
    };
    driver.onSocketClosed = (hasError) => {
      this.#handshakes.over(now());
      this.#inbound.reset();
      this.#queue.failUnsent();
      onSocketClosed.call(driver, hasError);
    };
    driver.on('state', (state) => this.#stateChanged(state));
  }

  #socketEvents(): SocketEvents {
    return {
      opened: (socket) => {
        this.#driver.socket = socket;
        socket.on('data', (bytes: Buffer) => this.#driver.onSocketData(bytes));
        socket.on('drain', () => this.#driver.onSocketDrain());
      },
      connected: () => this.#driver.onSocketConnected(),
      ended: () => this.#down(),
      unanswered: () => this.#unanswered(),
      closed: (hasError) => this.#driver.onSocketClosed(hasError),
    };
  }

  #stateChanged(state: number): void {
    if (state === DriverState.connected && this.#inbound.unconfirmedAuths === 0) return this.#connected();
    if (state === DriverState.expired) return this.#end('expired');
    if (state === DriverState.authFailed) return this.#end('authentication failed');
    if (state === DriverState.disconnected) this.#down();
  }

  #down(): void {
    if (!this.#isUp) return;
    this.#isUp = false;
    if (!this.#hasEnded) this.#listener.disconnected();
  }

  #connected(): void {
    const sessionId = this.#driver.sessionId.readBigInt64BE(0);
    if (this.#sessionId !== 0n && sessionId !== this.#sessionId) return this.#end('replaced by the server');
    this.#sessionId = sessionId;
    if (this.#handshakes.claimsZxid) this.#up();
    else void this.#upUnlessBehind();
  }

  async #upUnlessBehind(): Promise<void> {
    const ask: Ask = (...question) => this.outbox.add(new PendingRequest(...question));
    const isBehind = await this.#handshakes.isBehind(ask).catch(() => undefined);
    if (isBehind === undefined) return this.drop();
    // The session is closed: ephemeral znodes that were restored from a backup would keep other contenders waiting.
    if (isBehind) await this.close(this.#driver.sessionTimeout, 'the servers lost data');
    else if (!this.#closed) this.#up();
  }

  #up(): void {
    this.#isUp = true;
    this.#dialer.succeeded();
    this.#handshakes.answered();
    const { sentAt } = this.#handshakes;
    const { server } = this.#dialer;
    this.#listener.connected({ sessionId: this.#sessionId, timeoutMs: this.#driver.sessionTimeout, sentAt, server });
  }

  // A server that receives, but whose replies are lost, renews the session with each handshake, and its keys remain
  // locked. Once the session timeout is over here, this client ends it, so that it expires at the servers as well.
  #unanswered(): void {
    const unansweredMs = this.#handshakes.unanswered(now());
    if (unansweredMs > this.#driver.sessionTimeout && this.#sessionId !== 0n) this.#end('unanswered');
  }

  #end(why: SessionEnd): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    this.#stopReconnecting();
    this.drop();
    this.#watches.clear();
    this.#listener.ended(why);
  }

  /** Sets a state in which the driver neither reconnects after its socket closes nor accepts requests. */
  #stopReconnecting(): void {
    this.#dialer.stop();
    this.#driver.state = DriverState.closing;
  }
}
