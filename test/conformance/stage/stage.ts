import { setTimeout as pause } from 'node:timers/promises';
import { askFourLetterWord } from '../../../lib/testing/four-letter-word.js';
import type { TestedServer } from '../servers/tested-server.js';
import type { Handshake } from './handshake.js';
import { baseZxid, buryAll, sweep, treeLines } from './housekeeping.js';
import { Names } from './names.js';
import { RawClient } from './raw-client.js';

/** The operations of clients on a server. The clients record in the transcript what happened. */
export type Script = (stage: Stage) => Promise<void>;

const BETWEEN_MOMENTS_MS = 5;

/** Some clients of one server, and the transcript of what they send and receive. */
export class Stage {
  readonly names: Names;
  readonly #server: TestedServer;
  readonly #clients: RawClient[] = [];
  readonly #lines: string[] = [];

  private constructor(server: TestedServer, names: Names) {
    this.#server = server;
    this.names = names;
  }

  /** Plays the script on an empty server, and leaves it empty. Resolves with the transcript, one line per message. */
  static async play(server: TestedServer, script: Script): Promise<string[]> {
    const stage = new Stage(server, new Names(await baseZxid(server)));
    try {
      await script(stage);
      await stage.#hearAll(stage.#clients);
    } catch (error) {
      stage.say(`! ${String(error)}`);
    }
    stage.#clients.forEach((client) => client.destroy());
    await buryAll(server, stage.names.granted);
    await sweep(server);
    return stage.#lines;
  }

  /** The time limit for an expected event. */
  get patienceMs(): number {
    return this.#server.patienceMs;
  }

  get clients(): readonly RawClient[] {
    return this.#clients;
  }

  say(line: string): void {
    this.#lines.push(line);
  }

  /** A client that is not connected yet. */
  client(name: string): RawClient {
    const client = new RawClient(name, {
      port: this.#server.port,
      patienceMs: this.#server.patienceMs,
      names: this.names,
      say: (line) => this.say(line),
      settled: (one, isUnordered) => this.settled(one, isUnordered),
    });
    this.#clients.push(client);
    return client;
  }

  /** A client with a session of its own. */
  open(name: string, handshake?: Handshake): Promise<RawClient> {
    return this.client(name).connect(handshake);
  }

  /** Makes times before and after this call distinguishable. */
  async moment(): Promise<void> {
    await pause(BETWEEN_MOMENTS_MS);
    this.names.newMoment();
    await pause(BETWEEN_MOMENTS_MS);
  }

  /** Resolves with the server's answer to an admin word. */
  async ask(word: string): Promise<string> {
    return askFourLetterWord(this.#server.port, word);
  }

  /** Records the whole tree of the server at a path. */
  async sayTree(top = '/'): Promise<void> {
    for (const line of await treeLines(this.#server, this.names, top)) this.say(line);
  }

  /** Lets the other clients record what they have received. A ping's reply comes after all of it. */
  settled(by: RawClient, isUnordered = false): Promise<void> {
    return this.#hearAll(
      this.#clients.filter((one) => one !== by),
      isUnordered,
    );
  }

  async #hearAll(among: readonly RawClient[], isUnordered = false): Promise<void> {
    const listening = among.filter((one) => one.isOpen && !one.isSilent && one.sessionId !== 0n);
    const heard = await Promise.all(listening.map((one) => one.catchUp()));
    listening.forEach((one, place) => one.sayAll(heard[place]!, isUnordered));
  }
}
