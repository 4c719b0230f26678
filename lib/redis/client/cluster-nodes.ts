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
  /** The nodes to ask: those that were given, and those that the cluster named last. */
  readonly #known = new Map<string, RedisNode>();
  #turn = 0;

  constructor(nodes: readonly RedisNode[], createClient: CreateNodeClient) {
    this.#createClient = createClient;
    for (const node of nodes) this.#known.set(textOf(node), node);
  }

  /**
   * Returns the primary of a slot, as the cluster knows it at present.
   * @param limitMs the time that each node is given to answer
   * @throws LinkLostError, RefusedError, LockConfigurationError
   */
  async primaryOf(slot: number, limitMs: number): Promise<RedisNode> {
    const nodes = [...this.#known.values()];
    const begin = this.#turn++ % nodes.length;
    let failure: unknown;
    for (const node of [...nodes.slice(begin), ...nodes.slice(0, begin)]) {
      try {
        const ranges = await this.#ask(node, limitMs);
        const found = ranges.find(([first, last]) => first <= slot && slot <= last);
        if (found) return this.#learn(node, found[2]);
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
      const ranges = (await orTimeout(answered, limitMs, limit)) as readonly Range[];
      for (const [, , primary] of ranges) this.#learn(node, primary);
      return ranges;
    } catch (error) {
      const refusal = refusalOf(fault ?? error);
      if (/cluster support disabled/.test(String(refusal))) throw notInCluster(node);
      const isReply = refusal !== (fault ?? error);
      throw isReply ? refusal : new LinkLostError(`${textOf(node)}: ${(refusal as Error).message}`, refusal);
    } finally {
      closeClient(client);
    }
  }

  /** Notes a node for later questions. @param by the node that has named it; a node may leave out its own host */
  #learn(by: RedisNode, [host, port]: readonly [string | null, number]): RedisNode {
    const node = { host: host === null || host === '' ? by.host : host, port };
    this.#known.set(textOf(node), node);
    return node;
  }
}

function textOf({ host, port }: RedisNode): string {
  return `${host}:${port}`;
}

function notInCluster(node: RedisNode): LockConfigurationError {
  return new LockConfigurationError(
    `the Redis server at ${textOf(node)} is not in cluster mode: leave out \`cluster\`, and give its \`url\``,
  );
}
