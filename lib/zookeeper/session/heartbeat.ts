import { now } from '../../async/clock.js';
import type { Dispose } from '../../async/abort.js';
import { ErrorCode } from '../client/zookeeper-client.js';
import type { ZooKeeperClient } from '../client/zookeeper-client.js';
import type { SessionNodes } from './session-nodes.js';

const TICK_SHARE = 1 / 12;
const BEAT_SHARE = 1 / 6;
const SILENCE_SHARE = 1 / 3;
const MOST_CHECKS = 32;

/**
 * Keeps a session alive and known to be alive. Of a session that owns znodes, a beat is a transaction that checks some
 * of them: it changes nothing, proves that the leader has a quorum, and finds a znode that somebody else deleted.
 * A link on which something has been without an answer for a third of the session timeout is given up.
 */
export class Heartbeat {
  readonly #client: ZooKeeperClient;
  readonly #timeoutMs: number;
  readonly #nodes: SessionNodes;
  #timer: NodeJS.Timeout | undefined;
  #lastBeatAt = -Infinity;

  constructor(client: ZooKeeperClient, timeoutMs: number, nodes: SessionNodes) {
    this.#client = client;
    this.#timeoutMs = timeoutMs;
    this.#nodes = nodes;
  }

  start(): Dispose {
    this.#timer = setInterval(() => this.#tick(), this.#timeoutMs * TICK_SHARE);
    return () => clearInterval(this.#timer);
  }

  /** Resolves when the beat was answered, or with nothing when it was not. */
  async beat(): Promise<void> {
    this.#lastBeatAt = now();
    const paths = this.#nodes.take(MOST_CHECKS);
    if (paths.length === 0) return this.#client.ping();
    const reply = await this.#client.multi(paths.map((path) => ({ type: 'check', path }))).catch(() => undefined);
    reply?.results.forEach(({ error }, place) => {
      const path = paths[place];
      if (error === ErrorCode.noNode && path !== undefined) this.#nodes.gone(path);
    });
  }

  #tick(): void {
    const since = this.#client.unansweredSince;
    if (since !== undefined && now() - since > this.#timeoutMs * SILENCE_SHARE) this.#suspect(since);
    if (now() - this.#lastBeatAt >= this.#timeoutMs * (BEAT_SHARE - TICK_SHARE / 2)) void this.beat();
  }

  // After a stall of this process the answers may be waiting in the socket: they are read before it is judged.
  #suspect(since: number): void {
    setImmediate(() =>
      setImmediate(() => {
        if (this.#client.unansweredSince === since) this.#client.dropLink();
      }),
    );
  }
}
