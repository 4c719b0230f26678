import { connect, createServer } from 'node:net';
import type { AddressInfo, Server, Socket } from 'node:net';

/** A proxy before a Redis server that has some commands answered with a given text. Their order is kept. */
export class AnsweringProxy {
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  /** The scripts to run instead of commands, by the name of the command. */
  readonly #instead = new Map<string, string>();

  private constructor(server: Server, target: number) {
    this.#server = server;
    server.on('connection', (client) => this.#accept(client, connect(target, '127.0.0.1')));
  }

  static async open(target: number): Promise<AnsweringProxy> {
    const server = createServer({ noDelay: true });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return new AnsweringProxy(server, target);
  }

  get url(): string {
    return `redis://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** Answers these commands with an error from now on, and does not run them. */
  refuse(error: string, ...commands: string[]): void {
    for (const name of commands) this.#instead.set(name, `return redis.error_reply(${JSON.stringify(error)})`);
  }

  /** Answers a command with this text from now on. */
  answer(command: string, text: string): void {
    this.#instead.set(command, `return ${JSON.stringify(text)}`);
  }

  heal(): void {
    this.#instead.clear();
  }

  async close(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  #accept(client: Socket, target: Socket): void {
    for (const [socket, other] of [
      [client, target],
      [target, client],
    ] as const) {
      this.#sockets.add(socket);
      socket.on('error', () => {});
      socket.on('close', () => other.destroy());
    }
    target.on('data', (bytes) => client.write(bytes));
    let rest = '';
    // Latin-1 keeps every byte as one character.
    client.on('data', (bytes) => {
      rest += bytes.toString('latin1');
      for (let found = firstCommand(rest); found; found = firstCommand(rest)) {
        const script = this.#instead.get(found.name);
        const text = script === undefined ? rest.slice(0, found.length) : commandOf('EVAL', script, '0');
        target.write(Buffer.from(text, 'latin1'));
        rest = rest.slice(found.length);
      }
    });
  }
}

function commandOf(...words: string[]): string {
  return `*${words.length}\r\n${words.map((word) => `$${word.length}\r\n${word}\r\n`).join('')}`;
}

/** The name and length of the command that the text begins with; `undefined` while it is not complete. */
function firstCommand(text: string): { readonly name: string; readonly length: number } | undefined {
  const [head, count] = /^\*(\d+)\r\n/.exec(text) ?? [];
  if (head === undefined) return undefined;
  let [at, name] = [head.length, ''];
  for (let word = 0; word < Number(count); word++) {
    const end = text.indexOf('\r\n', at);
    if (end < 0) return undefined;
    const size = Number(text.slice(at + 1, end));
    if (word === 0) name = text.slice(end + 2, end + 2 + size).toUpperCase();
    at = end + 2 + size + 2;
  }
  return at <= text.length ? { name, length: at } : undefined;
}
