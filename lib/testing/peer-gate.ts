import { connect, createServer } from 'node:net';
import type { AddressInfo, Server, Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';

const RETRY_MS = 20;

export interface PeerGateOptions {
  /**
   * The time to retry while the port refuses connections, in milliseconds. By then a proxy has accepted the caller. The
   * caller would take a refusal for the end of a connection, and start all over.
   */
  readonly patienceMs: number;
  /** Rewrites the caller's first message. Returns `undefined` until that message is complete. */
  readonly firstWords?: (heard: Buffer) => Buffer | undefined;
}

/** A relay in front of a port on which a server listens for its peers. */
export class PeerGate {
  readonly #server: Server;
  readonly #target: number;
  readonly #options: PeerGateOptions;
  readonly #sockets = new Set<Socket>();

  private constructor(target: number, options: PeerGateOptions) {
    this.#target = target;
    this.#options = options;
    this.#server = createServer({ noDelay: true }, (caller) => void this.#accept(caller));
  }

  static async open(target: number, options: PeerGateOptions): Promise<PeerGate> {
    const gate = new PeerGate(target, options);
    await new Promise<void>((resolve) => gate.#server.listen(0, '127.0.0.1', resolve));
    return gate;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  async close(): Promise<void> {
    this.#sockets.forEach((socket) => socket.destroy());
    await new Promise((resolve) => this.#server.close(resolve));
  }

  async #accept(caller: Socket): Promise<void> {
    this.#keep(caller);
    const server = await this.#reach(caller);
    if (!server) return void caller.destroy();
    this.#keep(server);
    caller.once('close', () => server.destroy());
    server.once('close', () => caller.destroy());
    if (caller.destroyed) return void server.destroy();
    server.pipe(caller);
    passOn(caller, server, this.#options.firstWords);
  }

  #keep(socket: Socket): void {
    this.#sockets.add(socket);
    socket.on('error', () => {});
    socket.once('close', () => this.#sockets.delete(socket));
  }

  async #reach(caller: Socket): Promise<Socket | undefined> {
    for (const startedAt = performance.now(); !caller.destroyed; await pause(RETRY_MS)) {
      const server = await connected(this.#target);
      if (server || performance.now() - startedAt > this.#options.patienceMs) return server;
    }
    return undefined;
  }
}

function connected(port: number): Promise<Socket | undefined> {
  return new Promise((resolve) => {
    const socket = connect({ port, host: '127.0.0.1', noDelay: true });
    socket.once('connect', () => resolve(socket));
    socket.once('error', () => resolve(undefined));
  });
}

function passOn(caller: Socket, server: Socket, firstWords: PeerGateOptions['firstWords']): void {
  if (!firstWords) return void caller.pipe(server);
  let heard = Buffer.alloc(0);
  const listen = (bytes: Buffer) => {
    heard = Buffer.concat([heard, bytes]);
    const words = firstWords(heard);
    if (!words) return;
    caller.off('data', listen);
    server.write(words);
    caller.pipe(server);
  };
  caller.on('data', listen);
}
