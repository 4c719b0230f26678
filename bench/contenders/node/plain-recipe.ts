/**
 * The smallest correct recipe of a queued lock on this package's codec: create and list in one write, watch the
 * predecessor, delete. It has none of this package's promises: no deadline, no lost reply, no reconnect, no lease.
 */
import { once } from 'node:events';
import { connect } from 'node:net';
import type { Socket } from 'node:net';
import { JuteReader, JuteWriter } from '../../../lib/zookeeper/wire/jute.js';
import { CreateMode, OpCode, Xid } from '../../../lib/zookeeper/wire/codes.js';
import {
  createRecord,
  FrameSplitter,
  pathWatchRecord,
  readReplyHeader,
  readWatcherEvent,
  REPLY_HEADER_BYTES,
  requestFrame,
  versionRecord,
} from '../../../lib/zookeeper/wire/records.js';
import type { ContenderOptions, Locker, OpenContender } from './contender.js';

const ANYONE = [{ permissions: 31, scheme: 'world', id: 'anyone' }];
const SESSION_MS = 30_000;
const PASSWORD_BYTES = 16;
const NO_NODE = -101;
const NODE_EXISTS = -110;
const NUMBER_DIGITS = 10;

interface Reply {
  readonly error: number;
  readonly body: JuteReader;
}

export async function open(address: string, _options: ContenderOptions): Promise<OpenContender> {
  const session = await PlainSession.open(address.split(',')[0]!);
  return {
    locker: (key) => lockerOf(session, key),
    close: async () => session.close(),
  };
}

async function lockerOf(session: PlainSession, key: string): Promise<Locker<string>> {
  const directory = `/plain-${key.replaceAll('/', '-')}`;
  const made = await session.ask(
    OpCode.create2,
    createRecord(directory, Buffer.alloc(0), ANYONE, CreateMode.persistent),
  );
  if (made.error !== 0 && made.error !== NODE_EXISTS) throw new Error(`create ${directory}: ${made.error}`);
  const entry = createRecord(`${directory}/lock-`, Buffer.alloc(0), ANYONE, CreateMode.ephemeralSequential);
  const list = pathWatchRecord(directory, false);
  return {
    async acquire() {
      const created = session.ask(OpCode.create2, entry);
      let listed = await session.ask(OpCode.getChildren2, list);
      const own = (await created).body.string();
      for (;;) {
        const predecessor = predecessorOf(own.slice(directory.length + 1), namesIn(listed.body));
        if (predecessor === undefined) return own;
        await session.goneAt(`${directory}/${predecessor}`);
        listed = await session.ask(OpCode.getChildren2, list);
      }
    },
    release: (own) => session.ask(OpCode.delete, versionRecord(own)),
  };
}

function namesIn(body: JuteReader): string[] {
  return body.vector(() => body.string());
}

/** Returns the last name before one's own, by their sequence numbers. */
function predecessorOf(own: string, names: readonly string[]): string | undefined {
  const number = (name: string) => name.slice(-NUMBER_DIGITS);
  return names
    .filter((name) => number(name) < number(own))
    .sort((one, other) => (number(one) < number(other) ? -1 : 1))
    .at(-1);
}

/** One session on one connection. Replies come in the order of the requests. */
class PlainSession {
  readonly #socket: Socket;
  readonly #splitter = new FrameSplitter();
  readonly #asked: ((reply: Reply) => void)[] = [];
  readonly #watched = new Map<string, () => void>();
  readonly #pings: NodeJS.Timeout;
  #welcome: () => void = () => {};
  #unsent: Buffer[] = [];
  #xid = 0;

  private constructor(socket: Socket) {
    this.#socket = socket;
    this.#pings = setInterval(() => socket.write(requestFrame(Xid.ping, OpCode.ping, Buffer.alloc(0))), SESSION_MS / 3);
    socket.on('data', (bytes: Buffer) => this.#splitter.push(bytes).forEach((frame) => this.#received(frame)));
  }

  static async open(address: string): Promise<PlainSession> {
    const [host, port] = address.split(':');
    const socket = connect({ port: Number(port), host: host!, noDelay: true });
    await once(socket, 'connect');
    const session = new PlainSession(socket);
    const welcome = new Promise<void>((resolve) => (session.#welcome = resolve));
    const request = new JuteWriter().int(0).long(0n).int(SESSION_MS).long(0n).buffer(Buffer.alloc(PASSWORD_BYTES));
    socket.write(new JuteWriter().buffer(request.bool(false).toBuffer()).toBuffer());
    await welcome;
    session.#welcome = () => {};
    return session;
  }

  ask(type: OpCode, body: Buffer): Promise<Reply> {
    // All requests of one turn of the event loop are one write.
    if (this.#unsent.length === 0) queueMicrotask(() => this.#flush());
    this.#unsent.push(requestFrame(++this.#xid, type, body));
    return new Promise((resolve) => this.#asked.push(resolve));
  }

  /** Resolves when the znode is deleted, or when it does not exist. */
  async goneAt(path: string): Promise<void> {
    const event = new Promise<void>((resolve) => this.#watched.set(path, resolve));
    const { error } = await this.ask(OpCode.exists, pathWatchRecord(path, true));
    if (error !== NO_NODE) await event;
    this.#watched.delete(path);
  }

  close(): void {
    clearInterval(this.#pings);
    this.#socket.destroy();
  }

  #flush(): void {
    this.#socket.write(this.#unsent.length === 1 ? this.#unsent[0]! : Buffer.concat(this.#unsent));
    this.#unsent = [];
  }

  #received(frame: Buffer): void {
    // The answer to the handshake has no header.
    if (this.#xid === 0) return this.#welcome();
    const { xid, error } = readReplyHeader(frame);
    if (xid === Xid.ping) return;
    const body = new JuteReader(frame, REPLY_HEADER_BYTES);
    if (xid === Xid.notification) this.#watched.get(readWatcherEvent(body).path)?.();
    else this.#asked.shift()!({ error, body });
  }
}
