import { setTimeout as pause } from 'node:timers/promises';
import { requestFrame } from '../../../lib/zookeeper/wire/records.js';
import { closeSession, ping } from '../wire/session-requests.js';
import { RawConnection } from '../wire/raw-connection.js';
import type { Request } from '../wire/request.js';
import { handshakeFrame, handshakeText, NO_PASSWORD, readWelcome } from './handshake.js';
import type { Handshake } from './handshake.js';
import type { Names } from './names.js';
import { eventText, isEvent, readReply } from './reply.js';
import type { Reply } from './reply.js';

/** The environment of a client. */
export interface Surroundings {
  readonly port: number;
  readonly patienceMs: number;
  readonly names: Names;
  say(line: string): void;
  /** Called after a client got a reply. The other clients then record what they have received. */
  settled(client: RawClient, isUnordered?: boolean): Promise<void>;
}

const POLL_MS = 20;
const CLOSES_WITHIN_MS = 150;
const BETWEEN_PIECES_MS = 2;
const ANSWER_TO_HANDSHAKE = Symbol('handshake');

interface Received {
  readonly lines: string[];
  readonly reply?: Reply;
}

/** One client, which records in the transcript all that it sends and receives. */
export class RawClient {
  readonly name: string;
  sessionId = 0n;
  password = NO_PASSWORD;
  timeoutMs = 0;
  /** The transaction id of the last reply that had one. */
  lastZxid = 0n;
  /** Sends no requests by itself any more, not even to receive its pending messages. */
  isSilent = false;
  readonly #around: Surroundings;
  #connection: RawConnection | undefined;
  #xid = 0;
  #isSaidToBeClosed = false;
  #asked: { readonly xid: number; readonly request: Request }[] = [];

  constructor(name: string, around: Surroundings) {
    this.name = name;
    this.#around = around;
  }

  get isOpen(): boolean {
    return this.#connection?.isClosed === false;
  }

  /** Opens a connection and shakes hands. */
  async connect(handshake: Handshake = {}): Promise<this> {
    this.#around.say(`${this.name}> ${handshakeText(handshake, this.#around.names)}`);
    await this.openSocket();
    return this.#greet(handshakeFrame(handshake));
  }

  /** Opens a connection and sends nothing. */
  async openSocket(): Promise<this> {
    this.#connection = await RawConnection.open(this.#around);
    this.#asked = [];
    this.#isSaidToBeClosed = false;
    return this;
  }

  /** Sends bytes instead of a handshake, in the given pieces. */
  async greet(what: string, ...pieces: readonly Buffer[]): Promise<this> {
    this.#around.say(`${this.name}> ${what}`);
    return this.#greet(...pieces);
  }

  /** Reconnects with its own session, or with that of another client. */
  resume(of: RawClient = this, handshake: Handshake = {}): Promise<this> {
    return this.connect({ sessionId: of.sessionId, password: of.password, ...handshake });
  }

  /** Sends a request and receives everything up to its reply. */
  async ask(request: Request): Promise<Reply | undefined> {
    this.#around.say(`${this.name}> ${request.text}`);
    const xid = this.#send([request]);
    return this.#heard(await this.#receive(xid), request);
  }

  /** Sends all requests at once, and receives everything up to the last reply. */
  async askAll(requests: readonly Request[]): Promise<Reply | undefined> {
    for (const { text } of requests) this.#around.say(`${this.name}> ${text}`);
    const xid = this.#send(requests);
    return this.#heard(await this.#receive(xid), requests.at(-1));
  }

  /** Repeats a request until the reply matches `pattern`. Only that reply is recorded. */
  async askUntil(request: Request, pattern: RegExp): Promise<void> {
    this.#around.say(`${this.name}> ${request.text} until ${String(pattern)}`);
    const end = performance.now() + this.#around.patienceMs;
    const lastXid = this.#xid;
    for (;;) {
      // The same number each time, because the number of repetitions differs between runs.
      this.#xid = lastXid;
      const { lines, reply } = await this.#receive(this.#send([request]));
      const isIt = reply === undefined || pattern.test(reply.text);
      this.#sayAll(isIt ? lines : lines.filter((line) => line !== reply.text), true);
      if (isIt) break;
      if (performance.now() > end) throw new Error(`not within ${this.#around.patienceMs} ms: ${String(pattern)}`);
      await pause(POLL_MS);
    }
    await this.#around.settled(this);
  }

  /** Sends raw bytes, and receives everything until the server closes the connection. */
  async throwIn(what: string, bytes: Buffer): Promise<void> {
    this.#around.say(`${this.name}> ${what}`);
    this.#open().write(bytes);
    await this.closed();
  }

  /** Receives until `count` more messages have arrived or the server has closed the connection. */
  async hear(count = 1, isUnordered = false): Promise<void> {
    const { lines } = await this.#receive(undefined, count);
    this.#sayAll(lines, isUnordered);
    await this.#around.settled(this);
  }

  /** Waits until the server has closed the connection. */
  async closed(): Promise<void> {
    const { lines } = await this.#receive();
    this.#sayAll(lines, false);
    await this.#around.settled(this);
  }

  /** Records whether the server closes the connection. After a reply, that takes a moment. */
  async saysWhetherClosed(): Promise<void> {
    const end = performance.now() + CLOSES_WITHIN_MS;
    while (this.isOpen && performance.now() < end) await pause(POLL_MS / 4);
    if (this.isOpen) this.#around.say(`${this.name} stays`);
    else await this.closed();
  }

  /** Ends the session. */
  async close(): Promise<void> {
    await this.ask(closeSession);
    await this.closed();
  }

  /** Breaks the connection. The session stays open. */
  async drop(how: 'fin' | 'reset' = 'fin'): Promise<void> {
    this.#around.say(`${this.name} drops its connection (${how})`);
    await this.#open().drop(how);
  }

  /** Returns everything that has been received up to now. */
  async catchUp(): Promise<readonly string[]> {
    const { lines } = await this.#receive(this.#send([ping]));
    return lines.filter((line) => !line.startsWith('#-2 ok'));
  }

  sayAll(lines: readonly string[], isUnordered: boolean): void {
    this.#sayAll([...lines], isUnordered);
  }

  destroy(): void {
    this.#connection?.destroy();
  }

  async #greet(...pieces: readonly Buffer[]): Promise<this> {
    for (const piece of pieces) {
      this.#open().write(piece);
      if (pieces.length > 1) await pause(BETWEEN_PIECES_MS);
    }
    this.#sayAll((await this.#receive(ANSWER_TO_HANDSHAKE)).lines, false);
    await this.#around.settled(this);
    return this;
  }

  /** Returns the transaction id of the last request. */
  #send(requests: readonly Request[]): number {
    const frames = requests.map((request) => {
      const xid = request.xid ?? ++this.#xid;
      this.#asked.push({ xid, request });
      return requestFrame(xid, request.type, request.body);
    });
    this.#open().write(Buffer.concat(frames));
    return this.#asked.at(-1)!.xid;
  }

  async #receive(until?: number | typeof ANSWER_TO_HANDSHAKE, most = Infinity): Promise<Received> {
    const lines: string[] = [];
    while (lines.length < most) {
      const frame = await this.#open().next();
      if (!frame) return { lines: [...lines, 'closed'] };
      if (until === ANSWER_TO_HANDSHAKE) return { lines: [this.#welcomed(frame)] };
      const reply = isEvent(frame) ? undefined : this.#answered(frame);
      lines.push(reply?.text ?? eventText(frame, this.#around.names));
      if (reply && reply.xid === until) return { lines, reply };
    }
    return { lines };
  }

  #answered(frame: Buffer): Reply {
    const xid = frame.readInt32BE(0);
    const at = this.#asked.findIndex((asked) => asked.xid === xid);
    const [asked] = at < 0 ? [] : this.#asked.splice(at, 1);
    const reply = readReply(frame, asked?.request, this.#around.names);
    if (reply.zxid > this.lastZxid) this.lastZxid = reply.zxid;
    return reply;
  }

  #welcomed(frame: Buffer): string {
    const welcome = readWelcome(frame, this.name, this.#around.names);
    if (welcome.sessionId !== 0n) {
      this.sessionId = welcome.sessionId;
      this.password = Buffer.from(welcome.password);
      this.timeoutMs = welcome.timeoutMs;
    }
    return welcome.text;
  }

  async #heard({ lines, reply }: Received, request: Request | undefined): Promise<Reply | undefined> {
    const isUnordered = request?.isUnordered === true;
    this.#sayAll(lines, isUnordered);
    await this.#around.settled(this, isUnordered);
    return reply;
  }

  #sayAll(lines: string[], isUnordered: boolean): void {
    const order = (one: string, other: string) => Number(isEventLine(other)) - Number(isEventLine(one));
    const sorted = isUnordered ? lines.toSorted((one, other) => order(one, other) || compare(one, other)) : lines;
    sorted.forEach((line) => this.#said(line));
  }

  #said(line: string): void {
    if (line !== 'closed') return this.#around.say(`${this.name}< ${line}`);
    if (!this.#isSaidToBeClosed) this.#around.say(`${this.name} is closed`);
    this.#isSaidToBeClosed = true;
  }

  #open(): RawConnection {
    if (!this.#connection) throw new Error(`${this.name} has no connection`);
    return this.#connection;
  }
}

const isEventLine = (line: string) => line.startsWith('event ');

function compare(one: string, other: string): number {
  return one < other ? -1 : Number(one > other);
}
