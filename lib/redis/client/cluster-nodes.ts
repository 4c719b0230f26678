import { orTimeout } from '../../async/timer.js';
import { LockConfigurationError } from '../../contract/errors.js';
import { closeClient } from './redis-client.js';
import type { CreateNodeClient, RedisNode } from './redis-client.js';
import { LinkLostError, refusalOf } from './redis-error.js';

/** One range of `CLUSTER SLOTS`: first slot, last slot, and the nodes that have it, the primary first. */
type Range = readonly [first: number, last: number, primary: readonly [host: string | null, port: number]];

/**
 * The nodes of a cluster. They are asked for the primary of a slot before each connection: it may have changed. Each
 * question begins at another node, so that one that is cut off from the others is not the only one that answers.
 */
export class ClusterNodes {
  readonly #createClient: CreateNodeClient;
  readonly #given: ReadonlyMap<string, RedisNode>;
  /** The nodes to ask: those that were given, and those that the cluster named last. */
  #known: ReadonlyMap<string, RedisNode>;
  #turn = 0;

  constructor(nodes: readonly RedisNode[], createClient: CreateNodeClient) {
    this.#createClient = createClient;
    this.#given = new Map(nodes.map((node) => [textOf(node), node]));
    this.#known = this.#given;
  }

  /**
   * Returns the primary of a slot, as the cluster knows it at present.
   * @param limitMs the time that each node is given to answer
   * @throws LinkLostError, RefusedError, LockConfigurationError
   */
  async primaryOf(slot: number, limitMs: number): Promise<RedisNode> {
    const nodes = [...this.#known.values()];
    const begin = this.#turn++ % nodes.length;
    let failure: unknown = new LinkLostError('no node of the cluster is known');
    for (const node of [...nodes.slice(begin), ...nodes.slice(0, begin)]) {
      try {
        const ranges = await this.#ask(node, limitMs);
        const found = ranges.find(([first, last]) => first <= slot && slot <= last);
        if (found) {
          this.#learn(node, ranges);
          return this.#named(node, found[2]);
        }
        failure = new LinkLostError(`${textOf(node)} knows no node of the cluster that serves slot ${slot}`);
      } catch (error) {
        failure = error;
        if (error instanceof LockConfigurationError) break;
      }
    }
    throw failure;
  }

  async #ask(node: RedisNode, limitMs: number): Promise<readonly Range[]> {
    const client = this.#createClient(node, limitMs);
    let fault: unknown;
    client.on('error', (error: unknown) => (fault = error));
    const answered = client.connect().then(() => client.call('CLUSTER', ['SLOTS']));
    try {
      const limit = () => new Error(`no answer within ${limitMs} ms`);
      return (await orTimeout(answered, limitMs, limit)) as readonly Range[];
    } catch (error) {
      const refusal = refusalOf(fault ?? error);
      if (/cluster support disabled/.test(String(refusal))) throw this.#notInCluster(node);
      const isReply = refusal !== (fault ?? error);
      throw isReply ? refusal : new LinkLostError(`${textOf(node)}: ${(refusal as Error).message}`, refusal);
    } finally {
      closeClient(client);
    }
  }

  /** Notes the nodes of an answer for later questions. Those of earlier answers may have left the cluster. */
  #learn(by: RedisNode, ranges: readonly Range[]): void {
    const named = ranges.map(([, , primary]) => this.#named(by, primary));
    this.#known = new Map([...this.#given, ...named.map((node) => [textOf(node), node] as const)]);
  }

  /**
   * Returns a node that another one has named. It has the access that it was given with, else that of the other one.
   * @param by the node that has named it; a node may leave out its own host
   */
  #named(by: RedisNode, [host, port]: Range[2]): RedisNode {
    const node = { ...by, host: host === null || host === '' ? by.host : host, port };
    return this.#given.get(textOf(node)) ?? node;
  }

  /** The address of a node that has left the cluster may be that of another server by now. */
  #notInCluster(node: RedisNode): Error {
    if (!this.#given.has(textOf(node))) return new LinkLostError(`${textOf(node)} is not in cluster mode`);
    return new LockConfigurationError(
      `the Redis server at ${textOf(node)} is not in cluster mode: leave out \`cluster\`, and give its \`url\``,
    );
  }
}

function textOf({ host, port }: RedisNode): string {
  return `${host}:${port}`;
}
