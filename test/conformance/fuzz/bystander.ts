import type { TestedServer } from '../servers/tested-server.js';
import { Names } from '../stage/names.js';
import { RawClient } from '../stage/raw-client.js';
import { create, exists, getData, setData } from '../wire/node-requests.js';

const NODE = '/bystander';

/** A correct client, with a node and a watch, that other clients' bytes must not affect. */
export class Bystander {
  readonly #watcher: RawClient;
  readonly #writer: RawClient;
  #heard: string[] = [];

  private constructor({ port, patienceMs }: TestedServer) {
    const around = {
      port,
      patienceMs,
      names: new Names(0n),
      say: (line: string) => void this.#heard.push(line),
      async settled() {},
    };
    this.#watcher = new RawClient('watcher', around);
    this.#writer = new RawClient('writer', around);
  }

  static async join(server: TestedServer): Promise<Bystander> {
    const bystander = new Bystander(server);
    await bystander.#watcher.connect();
    await bystander.#writer.connect();
    await bystander.#watcher.ask(create(NODE, { flags: 1 }));
    return bystander;
  }

  /** @throws Error when it is not served as before */
  async isServed(): Promise<void> {
    this.#heard = [];
    await this.#watcher.ask(getData(NODE, true));
    await this.#writer.ask(setData(NODE, 'x'));
    await this.#watcher.ask(exists(NODE));
    const { length } = this.#heard.filter((line) => /< #\d+ ok /.test(line));
    const hasHeard = this.#heard.some((line) => line.includes(`event changed "${NODE}"`));
    if (length !== 3 || !hasHeard) throw new Error(`a bystander is not served:\n${this.#heard.join('\n')}`);
  }

  leave(): void {
    this.#watcher.destroy();
    this.#writer.destroy();
  }
}
