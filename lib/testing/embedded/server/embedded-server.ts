import { createServer } from 'node:net';
import type { AddressInfo, Server, Socket } from 'node:net';
import type { Database } from '../database/database.js';
import { Alone } from '../database/leadership.js';
import type { Leadership } from '../database/leadership.js';
import { Replica } from '../database/replica.js';
import type { RequestRules } from '../requests/client.js';
import { clearTimer, setTimer } from '../sessions/real-time.js';
import type { Session } from '../sessions/session.js';
import { AnswerLine } from './answer-line.js';
import type { ServerContext } from './context.js';
import type { ServerStatus } from './server-status.js';
import { addressOf, Connection } from './connection.js';
import { FOUR_LETTER_WORDS } from './four-letter-words.js';
import { HeldEvents } from './held-events.js';
import { Network } from './network.js';
import { PlannedFaults } from './planned-faults.js';

export interface ServerSettings {
  readonly host: string;
  readonly rules: RequestRules;
  readonly maxBufferBytes: number;
  /** The longest session timeout that this server grants, if it is shorter than that of the others. */
  readonly longestSessionMs?: number | undefined;
  readonly log: (line: string) => void;
}

const WORD_BYTES = 4;
/** The time that a stop leaves its clients to be notified, in milliseconds. */
const STOP_MS = 1_000;

/** One port on a database, with its connections, their watches and their faults. */
export class EmbeddedServer implements ServerContext, ServerStatus {
  readonly database: Database;
  readonly replica: Replica<Connection>;
  readonly leadership: Leadership;
  readonly settings: ServerSettings;
  readonly rules: RequestRules;
  readonly maxBufferBytes: number;
  readonly faults = new PlannedFaults();
  readonly heldEvents = new HeldEvents();
  readonly connections = new Set<Connection>();
  readonly network = new Network(this.connections);
  mode = 'standalone';
  port = 0;
  startedAt = 0;
  /** Incremented with everything that is received. */
  heard = 0;
  /** Whether it may serve clients. A server of an ensemble needs a leader for that. */
  isServing = true;
  /** The sockets that are no client connections: they have not sent enough yet, or were answered an admin word. */
  readonly #strangers = new Set<Socket>();
  #server: Server | undefined;
  #answers = new WeakMap<Session, AnswerLine>();

  /** @param join returns the server's connection to its leader; without it, the server decides alone */
  constructor(database: Database, settings: ServerSettings, join?: (server: EmbeddedServer) => Leadership) {
    this.database = database;
    this.settings = settings;
    this.rules = settings.rules;
    this.maxBufferBytes = settings.maxBufferBytes;
    this.replica = new Replica<Connection>(database.tree, database.zxid, (id) => this.#sessionEnded(id));
    this.leadership = join?.(this) ?? new Alone(database, this.replica);
  }

  /** @throws Error when the port is taken */
  async listen(port: number): Promise<void> {
    const server = createServer({ noDelay: true }, (socket) => this.#accept(socket));
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject).listen(port, this.settings.host, resolve);
    });
    this.#server = server;
    this.port = (server.address() as AddressInfo).port;
    this.startedAt = Date.now();
  }

  /** Ends all connections. The database is kept. */
  async close(how: 'fin' | 'rst' = 'fin'): Promise<void> {
    const server = this.#server;
    if (!server) return;
    this.#server = undefined;
    this.forgetRequests();
    const closed = new Promise((resolve) => server.close(resolve));
    // Only the present connections: the server may be started again meanwhile.
    const ending = [...this.connections];
    for (const connection of ending) connection.disconnect(how);
    this.#strangers.forEach((socket) => socket.destroy());
    // Neither a client that reads nothing nor a delay may keep the server from ending.
    const lastResort = setTimer(() => ending.forEach((connection) => connection.disconnect('rst')), STOP_MS).unref();
    await closed;
    clearTimer(lastResort);
  }

  get longestSessionMs(): number {
    return this.settings.longestSessionMs ?? Infinity;
  }

  answersOf(session: Session): AnswerLine {
    const answers = this.#answers.get(session) ?? new AnswerLine();
    this.#answers.set(session, answers);
    return answers;
  }

  /** Drops requests that have no answer yet: this server starts afresh. */
  forgetRequests(): void {
    this.#answers = new WeakMap();
  }

  closeConnections(session: bigint): void {
    this.#connectionsOf(session).forEach((connection) => connection.close());
  }

  greeted(session: Session, askedMs: number): void {
    if (session.timeoutMs === askedMs) return;
    const id = session.id.toString(16);
    this.settings.log(`session 0x${id} asked for ${askedMs} ms and has ${session.timeoutMs} ms, see tickTimeMs`);
  }

  #sessionEnded(session: bigint): void {
    this.#connectionsOf(session).forEach((connection) => connection.endWithSession());
  }

  #connectionsOf(session: bigint): Connection[] {
    return [...this.connections].filter((connection) => connection.session?.id === session);
  }

  #accept(socket: Socket): void {
    // Every error of a connection is followed by 'close'.
    socket.on('error', () => {});
    this.#strangers.add(socket);
    socket.on('close', () => this.#strangers.delete(socket));
    if (this.network.refuses || !this.isServing) return void socket.resetAndDestroy();
    onFirstBytes(socket, (bytes) => {
      const answerWord = FOUR_LETTER_WORDS.get(wordOf(bytes));
      if (!answerWord) return this.#serve(socket, bytes);
      if (!this.network.isSilent) socket.end(answerWord(this, addressOf(socket)));
    });
  }

  #serve(socket: Socket, firstBytes: Buffer): void {
    if (!this.isServing) return void socket.resetAndDestroy();
    const connection = new Connection(socket, this);
    const receive = (bytes: Buffer) => {
      this.heard++;
      connection.receive(bytes);
    };
    this.#strangers.delete(socket);
    this.connections.add(connection);
    socket.on('close', () => this.connections.delete(connection));
    socket.on('data', receive);
    this.network.meet(connection);
    receive(firstBytes);
  }
}

/** Calls `known` with everything received so far, as soon as that distinguishes an admin word from a client. */
function onFirstBytes(socket: Socket, known: (bytes: Buffer) => void): void {
  let heard: Buffer = Buffer.alloc(0);
  const listen = (bytes: Buffer) => {
    heard = heard.length === 0 ? bytes : Buffer.concat([heard, bytes]);
    if (heard.length < WORD_BYTES) return;
    socket.off('data', listen);
    known(heard);
  };
  socket.on('data', listen);
}

/** Returns the admin word that a connection may start with. As a message length it would be larger than any message. */
function wordOf(bytes: Buffer): string {
  return bytes.toString('latin1', 0, WORD_BYTES);
}
