import { setTimeout as pause } from 'node:timers/promises';
import type { Packets, Server } from '../servers/server.js';
import { monotonicNs } from '../support/clock.js';
import type { Turn } from './turns.js';

const NONE: Packets = { received: 0, sent: 0 };

/**
 * The messages of sessions that are open and idle, per nanosecond. A contender's are the same in each round of a shape,
 * so they are observed in the first one.
 */
export class IdlePackets {
  readonly #observed = new Map<string, Packets>();
  readonly #idleMs: number;

  constructor(idleMs: number) {
    this.#idleMs = idleMs;
  }

  async of({ shape, contender }: Turn, server: Server): Promise<Packets> {
    const name = `${shape.id} ${contender.id}`;
    const packets = this.#observed.get(name) ?? (await this.#observe(server));
    this.#observed.set(name, packets);
    return packets;
  }

  async #observe(server: Server): Promise<Packets> {
    const [began, before] = [monotonicNs(), await server.counts()];
    if (!before) return NONE;
    await pause(this.#idleMs);
    const after = (await server.counts())!;
    const ns = monotonicNs() - began;
    return { received: (after.received - before.received) / ns, sent: (after.sent - before.sent) / ns };
  }
}
