import { onTestFinished } from 'vitest';
import { CreateMode, OpCode, Xid } from '../../../../lib/zookeeper/wire/codes.js';
import {
  createRecord,
  pathRecord,
  pathWatchRecord,
  readReplyHeader,
  requestFrame,
} from '../../../../lib/zookeeper/wire/records.js';
import { handshakeFrame } from '../../../conformance/stage/handshake.js';
import type { Handshake } from '../../../conformance/stage/handshake.js';
import { RawConnection } from '../../../conformance/wire/raw-connection.js';

const ANYONE = [{ permissions: 31, scheme: 'world', id: 'anyone' }];
const PATIENCE_MS = 60_000;

/** An error code, 0 for none, or the end of the connection. */
export type Answer = number | 'closed';

export type Asked =
  | { readonly ping: true }
  | { readonly read: string }
  | { readonly sync: true }
  | { readonly create: string; readonly flags?: number };

/** One session on one connection. It sends nothing by itself and never reconnects. */
export class RawClient {
  readonly #raw: RawConnection;
  readonly session: Required<Pick<Handshake, 'sessionId' | 'password'>>;
  #xid = 0;

  private constructor(raw: RawConnection, welcome: Buffer) {
    this.#raw = raw;
    this.session = { sessionId: welcome.readBigInt64BE(8), password: welcome.subarray(20, 36) };
  }

  /** Opens a new session or resumes an existing one. Resolves to `undefined` when the server refuses it. */
  static async open({ port }: { readonly port: number }, handshake: Handshake = {}): Promise<RawClient | undefined> {
    const raw = await RawConnection.open({ port, patienceMs: PATIENCE_MS }).catch(() => undefined);
    if (!raw) return undefined;
    onTestFinished(() => raw.destroy());
    raw.write(handshakeFrame(handshake));
    const welcome = await raw.next();
    return welcome && welcome.readBigInt64BE(8) !== 0n ? new RawClient(raw, welcome) : undefined;
  }

  ping(): Promise<Answer> {
    return this.#ask({ ping: true });
  }

  read(path: string): Promise<Answer> {
    return this.#ask({ read: path });
  }

  sync(): Promise<Answer> {
    return this.#ask({ sync: true });
  }

  create(path: string, flags = 0): Promise<Answer> {
    return this.#ask({ create: path, flags });
  }

  /** Sends all requests at once. Resolves with the answers in the same order. */
  async all(asked: readonly Asked[]): Promise<Answer[]> {
    for (const one of asked) this.#raw.write(this.#frameOf(one));
    const answers: Answer[] = [];
    while (answers.length < asked.length) answers.push(await this.#next());
    return answers;
  }

  async #ask(asked: Asked): Promise<Answer> {
    const [answer] = await this.all([asked]);
    return answer!;
  }

  async #next(): Promise<Answer> {
    const frame = await this.#raw.next();
    return frame ? readReplyHeader(frame).error : 'closed';
  }

  #frameOf(asked: Asked): Buffer {
    if ('ping' in asked) return requestFrame(Xid.ping, OpCode.ping, Buffer.alloc(0));
    if ('read' in asked) return requestFrame(++this.#xid, OpCode.getData, pathWatchRecord(asked.read, false));
    if ('sync' in asked) return requestFrame(++this.#xid, OpCode.sync, pathRecord('/'));
    const { create, flags = 0 } = asked;
    const type = flags === CreateMode.container ? OpCode.createContainer : OpCode.create2;
    return requestFrame(++this.#xid, type, createRecord(create, Buffer.alloc(0), ANYONE, flags));
  }
}
