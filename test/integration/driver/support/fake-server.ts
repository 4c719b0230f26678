import { createServer } from 'node:net';
import type { AddressInfo, Socket } from 'node:net';
import { onTestFinished } from 'vitest';
import { FrameSplitter } from '../../../../lib/zookeeper/wire/records.js';
import { JuteReader, JuteWriter } from '../../../../lib/zookeeper/wire/jute.js';
import { OpCode } from '../../../../lib/zookeeper/wire/codes.js';

export interface FakeRequest {
  readonly type: number;
  readonly xid: number;
  /** The part after xid and type. */
  readonly body: JuteReader;
}

/** An error code, or a record. */
export type FakeAnswer = number | Buffer;

export interface FakeServer {
  readonly connectString: string;
  /** The number of accepted connections. */
  readonly accepted: number;
  /** Every request except handshakes and pings. */
  readonly requests: readonly FakeRequest[];
}

export interface FakeServerOptions {
  /**
   * Default: every request is answered with an empty record and no error. `undefined`: this request is never answered.
   */
  readonly answer?: (request: FakeRequest) => FakeAnswer | undefined;
  /** Returns the bytes to send instead of a whole reply. */
  readonly distort?: (message: Buffer) => Buffer;
  /** Handles the connection instead of a handshake. */
  readonly greet?: (socket: Socket) => void;
  /** The session timeout that the server grants. */
  readonly timeoutMs?: number;
}

const PASSWORD = Buffer.alloc(16, 7);
const ZXID = 1n;

/** A server that speaks just enough ZooKeeper to send replies that no real server can be made to send. */
export async function openFakeServer(options: FakeServerOptions): Promise<FakeServer> {
  const requests: FakeRequest[] = [];
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket.on('error', () => {}));
    if (options.greet) options.greet(socket);
    else serve(socket, requests, options);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.close();
    sockets.forEach((socket) => socket.destroy());
  });
  return {
    connectString: `127.0.0.1:${(server.address() as AddressInfo).port}`,
    get accepted() {
      return sockets.size;
    },
    requests,
  };
}

function serve(socket: Socket, requests: FakeRequest[], options: FakeServerOptions): void {
  const frames = new FrameSplitter();
  let isGreeted = false;
  socket.on('data', (bytes: Buffer) => {
    for (const frame of frames.push(bytes)) {
      if (!isGreeted) socket.write(handshakeReply(options.timeoutMs ?? 4_000));
      else respond(socket, requests, frame, options);
      isGreeted = true;
    }
  });
}

function respond(
  socket: Socket,
  requests: FakeRequest[],
  frame: Buffer,
  { answer = () => 0, distort = (message) => message }: FakeServerOptions,
): void {
  const body = new JuteReader(frame);
  const [xid, type] = [body.int(), body.int()];
  if (type === OpCode.ping) return void socket.write(framed(reply(xid, 0)));
  const request = { xid, type, body };
  requests.push(request);
  const said = type === OpCode.closeSession ? 0 : answer(request);
  if (said !== undefined) socket.write(distort(framed(reply(xid, said))));
}

/** {int protocolVersion; int timeOut; long sessionId; buffer passwd; bool readOnly} */
export function handshakeReply(timeoutMs: number): Buffer {
  return framed(new JuteWriter().int(0).int(timeoutMs).long(42n).buffer(PASSWORD).bool(false).toBuffer());
}

/** {int xid; long zxid; int err} record */
function reply(xid: number, said: FakeAnswer): Buffer {
  const writer = new JuteWriter().int(xid).long(ZXID);
  return (typeof said === 'number' ? writer.int(said) : writer.int(0).raw(said)).toBuffer();
}

function framed(message: Buffer): Buffer {
  return new JuteWriter().buffer(message).toBuffer();
}
