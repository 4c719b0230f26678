import { once } from 'node:events';
import { connect } from 'node:net';
import type { Socket } from 'node:net';
import { JuteWriter } from '../../lib/zookeeper/wire/jute.js';
import { CreateMode, OpCode } from '../../lib/zookeeper/wire/codes.js';
import {
  createRecord,
  FrameSplitter,
  readReplyHeader,
  requestFrame,
  versionRecord,
} from '../../lib/zookeeper/wire/records.js';

const ANYONE = [{ permissions: 31, scheme: 'world', id: 'anyone' }];
const SESSION_MS = 10_000;
const PASSWORD_BYTES = 16;

/** A session with many requests in flight. It shows the work of a server without the work of a real client. */
export class PipeliningClient {
  readonly #socket: Socket;
  readonly #splitter = new FrameSplitter();
  #xid = 0;
  #answered: (frame: Buffer) => void = () => {};

  private constructor(socket: Socket) {
    this.#socket = socket;
    socket.on('data', (bytes: Buffer) => this.#splitter.push(bytes).forEach((frame) => this.#answered(frame)));
  }

  static async open(port: number): Promise<PipeliningClient> {
    const socket = connect({ port, host: '127.0.0.1', noDelay: true });
    await once(socket, 'connect');
    const client = new PipeliningClient(socket);
    const welcome = new Promise<Buffer>((resolve) => (client.#answered = resolve));
    const request = new JuteWriter().int(0).long(0n).int(SESSION_MS).long(0n).buffer(Buffer.alloc(PASSWORD_BYTES));
    socket.write(new JuteWriter().buffer(request.bool(false).toBuffer()).toBuffer());
    await welcome;
    return client;
  }

  /** Creates and deletes a znode, over and over, with so many requests in flight. Resolves with the number of pairs. */
  createAndDelete(prefix: string, atATime: number, until: number): Promise<number> {
    let [done, open] = [0, atATime * 2];
    return new Promise((resolve, reject) => {
      this.#answered = (frame) => {
        const { error } = readReplyHeader(frame);
        if (error !== 0) return reject(new Error(`refused with ${error}`));
        done++;
        open--;
        if (open > atATime) return;
        if (performance.now() < until) open += this.#send(prefix, atATime);
        else if (open === 0) resolve(done / 2);
      };
      this.#send(prefix, atATime);
    });
  }

  close(): void {
    this.#socket.destroy();
  }

  /** Writes so many pairs in one piece. Returns the number of requests. */
  #send(prefix: string, pairs: number): number {
    const frames = Array.from({ length: pairs }, (_, at) => this.#pair(`${prefix}${at}`)).flat();
    this.#socket.write(Buffer.concat(frames));
    return frames.length;
  }

  #pair(path: string): Buffer[] {
    const create = createRecord(path, Buffer.alloc(0), ANYONE, CreateMode.ephemeral);
    return [
      requestFrame(++this.#xid, OpCode.create2, create),
      requestFrame(++this.#xid, OpCode.delete, versionRecord(path)),
    ];
  }
}
