import { connect, createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { FrameSplitter } from '../../../lib/zookeeper/wire/records.js';

/** Reads the bytes that a client sends on one connection. Returns how many requests begin with them. */
export type SentReader = (bytes: Buffer) => number;

/** A relay on 127.0.0.1 to one server, which counts the requests of the clients that connect to it. */
export class RequestCounter {
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
        counter.requests += read(bytes);
      });
      client.pipe(server).pipe(client);
      for (const one of [client, server]) one.on('error', () => [client, server].forEach((each) => each.destroy()));
    });
    await new Promise<void>((resolve) => counter.#server.listen(0, '127.0.0.1', resolve));
    return counter;
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

/** Frames of ZooKeeper: one for each request. */
export function zooKeeperReader(): SentReader {
  const frames = new FrameSplitter();
  return (bytes) => frames.push(bytes).length;
}

/** Commands of Redis: lists of texts. */
export function redisReader(): SentReader {
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
    let commands = 0;
    for (let end = commandIn(rest); end !== undefined; end = commandIn(rest)) {
      commands++;
      rest = rest.subarray(end);
    }
    return commands;
  };
}

const PREFACE_BYTES = 24;
const HEADER_BYTES = 9;
const HEADERS = 1;

/** Frames of HTTP/2: a call begins with headers. */
export function etcdReader(): SentReader {
  let rest = Buffer.alloc(0);
  let skip = PREFACE_BYTES;
  return (bytes) => {
    rest = Buffer.concat([rest, bytes]);
    let calls = 0;
    for (;;) {
      const needed = skip + HEADER_BYTES;
      const end = rest.length < needed ? Infinity : needed + rest.readUIntBE(skip, 3);
      if (end > rest.length) return calls;
      if (rest[skip + 3] === HEADERS) calls++;
      rest = rest.subarray(end);
      skip = 0;
    }
  };
}
