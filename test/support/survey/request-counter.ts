import { connect, createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { FrameSplitter } from '../../../lib/zookeeper/wire/frame-splitter.js';
import { OpCode } from '../../../lib/zookeeper/wire/op-codes.js';

/** One message of a client: a heartbeat of its session, a request, or what belongs to a request before it. */
export type Sent = 'beat' | 'request' | 'part';

/** Reads the bytes that a client sends on one connection. Returns the messages that they complete. */
export type SentReader = (bytes: Buffer) => readonly Sent[];

/** A relay on 127.0.0.1 to one server, which counts the requests of the clients that connect to it. */
export class RequestCounter {
  beats = 0;
  requests = 0;
  readonly #server = createServer();

  /** @param target `host:port` @param reader makes the reader of a new connection */
  static async open(target: string, reader: () => SentReader): Promise<RequestCounter> {
    const counter = new RequestCounter();
    const { hostname, port } = new URL(`tcp://${target}`);
    counter.#server.on('connection', (client) => {
      const server = connect(Number(port), hostname);
      const read = reader();
      client.on('data', (bytes: Buffer) => {
        for (const sent of read(bytes)) {
          if (sent === 'beat') counter.beats++;
          if (sent === 'request') counter.requests++;
        }
      });
      client.pipe(server).pipe(client);
      for (const one of [client, server]) one.on('error', () => [client, server].forEach((each) => each.destroy()));
    });
    await new Promise<void>((resolve) => counter.#server.listen(0, '127.0.0.1', resolve));
    return counter;
  }

  /** The heartbeats and the requests. */
  get messages(): number {
    return this.beats + this.requests;
  }

  /** The address, as `host:port`. */
  get host(): string {
    return `127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** Stops listening. Connections end with their clients. */
  close(): void {
    this.#server.close();
  }
}

/** Frames of ZooKeeper: a handshake, and then requests that begin with their number and their type. */
export function zooKeeperReader(): SentReader {
  const frames = new FrameSplitter();
  let isNew = true;
  return (bytes) =>
    frames.push(bytes).map((frame): Sent => {
      const sent = frame.readInt32BE(4) === OpCode.ping ? 'beat' : 'request';
      return isNew ? ((isNew = false), 'part') : sent;
    });
}

/** Commands of Redis: lists of texts. @param renewal hash of the script that renews a session */
export function redisReader(renewal: string): SentReader {
  let rest = Buffer.alloc(0);
  const commandIn = (bytes: Buffer): number | undefined => {
    let at = bytes.indexOf('\r\n') + 2;
    if (at < 2) return undefined;
    for (let words = Number(bytes.subarray(1, at - 2)); words > 0; words--) {
      const end = bytes.indexOf('\r\n', at);
      if (end < 0) return undefined;
      at = end + 2 + Number(bytes.subarray(at + 1, end)) + 2;
    }
    return at <= bytes.length ? at : undefined;
  };
  return (bytes) => {
    rest = Buffer.concat([rest, bytes]);
    const all: Sent[] = [];
    for (let end = commandIn(rest); end !== undefined; end = commandIn(rest)) {
      all.push(rest.subarray(0, end).includes(renewal) ? 'beat' : 'request');
      rest = rest.subarray(end);
    }
    return all;
  };
}
