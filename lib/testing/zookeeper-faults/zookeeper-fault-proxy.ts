import type { Server, Socket } from 'node:net';
import { FaultProxy, listening, targetOf } from '../faults/fault-proxy.js';
import type { ProxyTarget } from '../faults/fault-proxy.js';
import { closeSession, SessionSniffer } from './session-sniffer.js';

/** A `FaultProxy` in front of a ZooKeeper server, which can also expire the sessions that are connected through it. */
export class ZooKeeperFaultProxy extends FaultProxy {
  readonly #behind: ProxyTarget;
  readonly #sniffers = new Set<SessionSniffer>();

  private constructor(server: Server, target: ProxyTarget) {
    super(server, target);
    this.#behind = target;
  }

  /**
   * Opens a proxy on a free port of 127.0.0.1.
   * @param target `host:port` of the server, or its port on 127.0.0.1
   */
  static override async open(target: string | number): Promise<ZooKeeperFaultProxy> {
    return new ZooKeeperFaultProxy(await listening(), targetOf(target));
  }

  /**
   * Expires the sessions that are connected through this proxy, as servers do: their znodes are deleted before the
   * owners are notified. A second connection takes each session over and closes it. Owners that connect again meanwhile
   * have to wait: they would take the session back.
   * @throws Error when the server serves no sessions
   */
  async expireSessions(): Promise<void> {
    const sessions = [...this.#sniffers].flatMap(({ session }) => session ?? []);
    await this.holdingNewOnes(() => Promise.all(sessions.map((session) => closeSession(this.#behind, session))));
  }

  protected override connected(server: Socket): void {
    const sniffer = new SessionSniffer(server);
    this.#sniffers.add(sniffer);
    server.once('close', () => this.#sniffers.delete(sniffer));
  }
}
