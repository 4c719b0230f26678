import { now } from '../../async/clock.js';
import { LinkedList } from '../../async/collections.js';
import type { Place } from '../../async/collections.js';
import { afterReading } from '../../async/timer.js';
import { ErrorCode } from '../client/zookeeper-client.js';
import type { ZooKeeperClient } from '../client/zookeeper-client.js';

const TICK_SHARE = 1 / 12;
const BEAT_SHARE = 1 / 6;
const SILENCE_SHARE = 1 / 3;
const MOST_CHECKS = 32;

/**
 * Keeps a session alive, and proven alive. If the session owns znodes, a beat is a transaction that checks some of
 * them. The transaction changes nothing, proves that the leader has a quorum, and finds znodes that were deleted
 * externally.
 * A connection is dropped when a request on it has been unanswered for a third of the session timeout.
 */
export class Heartbeat {
  readonly #client: ZooKeeperClient;
  readonly #nodes: SessionNodes;
  readonly #onTick: () => void;
  #timeoutMs = 0;
  #timer: NodeJS.Timeout | undefined;
  #lastBeatAt = -Infinity;

  /** @param onTick called twelve times per session timeout, whether a server is connected or not */
  constructor(client: ZooKeeperClient, nodes: SessionNodes, onTick: () => void) {
    this.#client = client;
    this.#nodes = nodes;
    this.#onTick = onTick;
  }

  /** Begins, or continues with another session timeout. */
  start(timeoutMs: number): void {
    this.stop();
    this.#timeoutMs = timeoutMs;
    this.#timer = setInterval(() => this.#tick(), timeoutMs * TICK_SHARE);
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  /** Resolves when the beat is answered, and also when it fails. */
  async beat(): Promise<void> {
    this.#lastBeatAt = now();
    const places = this.#nodes.rotate(MOST_CHECKS);
    if (places.length === 0) return this.#client.ping();
    await Promise.all([this.#checkAll(places), ...places.map((place) => this.#checkIdentity(place))]);
  }

  async #checkAll(places: readonly Place<OwnNode>[]): Promise<void> {
    const checks = places.map(({ member: { path } }) => ({ type: 'check', path }) as const);
    const reply = await this.#client.multi(checks).catch(() => undefined);
    reply?.results.forEach(({ error }, at) => {
      const place = places[at];
      if (error === ErrorCode.noNode && place) this.#nodes.gone(place);
    });
  }

  // The version check accepts any znode at that path, so the czxid is compared where others use the path.
  async #checkIdentity(place: Place<OwnNode>): Promise<void> {
    const { path, czxid, sharesItsName } = place.member;
    if (!sharesItsName) return;
    const found = await this.#client.read(path).catch(() => undefined);
    if (found && found.stat.czxid !== czxid) this.#nodes.gone(place);
  }

  #tick(): void {
    this.#onTick();
    const since = this.#client.unansweredSince;
    if (since !== undefined && now() - since > this.#timeoutMs * SILENCE_SHARE) this.#suspect(since);
    if (now() - this.#lastBeatAt >= this.#timeoutMs * (BEAT_SHARE - TICK_SHARE / 2)) void this.beat();
  }

  #suspect(since: number): void {
    afterReading(() => {
      if (this.#client.unansweredSince === since) this.#client.dropLink();
    });
  }
}

/** A znode that this session owns and a lease or a wait depends on. */
export interface OwnNode {
  readonly path: string;
  /** The zxid of the znode's creation. */
  readonly czxid: bigint;
  /** Whether others create znodes at the same path, so that only the zxid tells this one from theirs. */
  readonly sharesItsName: boolean;
  /** Called once, when the znode is found to be deleted. */
  foundGone(): void;
}

/** The znodes of a session that the heartbeat checks from time to time, the least recently checked first. */
export class SessionNodes extends LinkedList<OwnNode> {
  gone(place: Place<OwnNode>): void {
    if (place.leave()) place.member.foundGone();
  }
}
