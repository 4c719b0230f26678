import type { Fault } from '../../robustness/model/history.js';
import { SESSION_CLOSED } from '../../robustness/validate/closed-sessions.js';
import { EVENT_LOOP_STALLED, MACHINE_SUSPENDED, PROCESS_STOPPED } from '../../robustness/validate/liveness.js';
import type { Link } from '../network/link.js';
import type { Network } from '../network/network.js';
import type { FaultPlan } from '../plan/plan.js';
import type { SimulatedServers } from '../servers/simulated-servers.js';
import type { World } from '../world/world.js';
import type { App, Incarnation } from './app.js';
import type { Claims } from './claims.js';

/** The parts of a run that faults act on. */
export interface Stage {
  readonly world: World;
  readonly network: Network;
  readonly servers: SimulatedServers;
  readonly apps: readonly App[];
  readonly claims: Claims;
}

/** The names of faults in a history, where checks look for them. */
const NAMES: Partial<Record<FaultPlan['kind'], string>> = {
  stop: PROCESS_STOPPED,
  suspend: MACHINE_SUSPENDED,
  stall: EVENT_LOOP_STALLED,
  expiry: SESSION_CLOSED,
  'delete-node': SESSION_CLOSED,
};

type Undo = () => void;

/** Injects the faults of a plan at their times, and heals them again. */
export class Faults {
  /** The injected faults, in the order in which they began. */
  readonly done: Fault[] = [];
  readonly #stage: Stage;
  readonly #note: (kind: string, text: string) => void;
  readonly #undos = new Set<Undo>();
  #isHealed = false;

  constructor(stage: Stage, note: (kind: string, text: string) => void) {
    this.#stage = stage;
    this.#note = note;
  }

  plan(faults: readonly FaultPlan[], startedAtUs: number): void {
    for (const fault of faults) this.#stage.world.at(startedAtUs + fault.atMs * 1_000, () => this.#do(fault));
  }

  /** Heals all faults, and injects no more. */
  healAll(): void {
    this.#isHealed = true;
    this.#undos.forEach((undo) => undo());
    this.#stage.servers.heal();
  }

  #do(fault: FaultPlan): void {
    if (this.#isHealed) return;
    const { world } = this.#stage;
    const app = this.#stage.apps[fault.app ?? 0];
    const target = fault.app === undefined ? String(fault.server ?? 'all') : (app?.current?.name ?? app?.name ?? 'all');
    const from = world.now / 1_000;
    const undo = this.#stage.servers.break(fault) ?? (app && this.#breakApp(fault, app));
    if (!undo) return;
    this.#note(fault.kind, `${JSON.stringify(fault)} of ${target}`);
    const until = from + fault.forMs;
    this.done.push({ name: NAMES[fault.kind] ?? fault.kind, target, from, until });
    const undoOnce = () => {
      if (!this.#undos.delete(undoOnce)) return;
      this.#note('over', `${fault.kind} of ${target} is over`);
      undo();
    };
    this.#undos.add(undoOnce);
    world.after(fault.forMs * 1_000, undoOnce);
  }

  #breakApp(fault: FaultPlan, app: App): Undo | undefined {
    const { network } = this.#stage;
    switch (fault.kind) {
      case 'reset':
        network.connections(app.name).forEach((connection) => connection.reset());
        return nothing;
      case 'vanish':
        network.connections(app.name).forEach((connection) => connection.vanish());
        return nothing;
      case 'hold':
      case 'one-way':
        return fault.backForMs === undefined
          ? this.#hold(this.#linksOf(fault, app))
          : this.#holdUnevenly(fault, app, fault.backForMs);
      case 'slow':
        return this.#slow(this.#linksOf({ ...fault, way: 'both' }, app), fault.ms ?? 0);
      case 'crash':
      case 'power-off':
        app.kill(fault.kind === 'power-off');
        return () => app.start();
      default:
        return app.current && this.#breakProcess(fault, app, app.current);
    }
  }

  #breakProcess(fault: FaultPlan, app: App, incarnation: Incarnation): Undo | undefined {
    const { process } = incarnation.site;
    switch (fault.kind) {
      case 'stop':
      case 'stall':
        process.stop(fault.forMs * 1_000);
        return nothing;
      case 'suspend':
        process.suspend(fault.forMs * 1_000);
        return nothing;
      case 'wall-jump':
        process.clock.jump(fault.ms ?? 0);
        return nothing;
      case 'expiry':
        return this.#closeSessions(incarnation);
      case 'delete-node':
        return this.#deleteNode(incarnation, app);
      default:
        return undefined;
    }
  }

  #linksOf({ server, way = 'both' }: FaultPlan, app: App): Link[] {
    const { servers, network } = this.#stage;
    const ports = typeof server === 'number' ? servers.ports.filter((_, at) => at === server) : servers.ports;
    return ports.flatMap((port) => {
      const { there, back } = network.path(app.name, port);
      return way === 'both' ? [there, back] : [way === 'there' ? there : back];
    });
  }

  #hold(links: readonly Link[]): Undo {
    links.forEach((link) => link.hold());
    return () => links.forEach((link) => link.release());
  }

  /**
   * Opens the way back first. Replies to requests that arrived before come through, and later requests are still held.
   */
  #holdUnevenly(fault: FaultPlan, app: App, backForMs: number): Undo {
    const there = this.#hold(this.#linksOf({ ...fault, way: 'there' }, app));
    const back = onlyOnce(this.#hold(this.#linksOf({ ...fault, way: 'back' }, app)));
    this.#stage.world.after(backForMs * 1_000, back);
    return () => {
      there();
      back();
    };
  }

  #slow(links: readonly Link[], ms: number): Undo {
    links.forEach((link) => (link.extraUs += ms * 1_000));
    return () => links.forEach((link) => (link.extraUs -= ms * 1_000));
  }

  #closeSessions({ sessions }: Incarnation): Undo | undefined {
    const closed = [...sessions].filter((session) => this.#stage.servers.closeSession(session));
    closed.forEach((session) => this.#stage.claims.closedOnPurpose(session));
    return closed.length > 0 ? nothing : undefined;
  }

  #deleteNode({ sessions }: Incarnation, { random }: App): Undo | undefined {
    const { servers } = this.#stage;
    const deleted = [...sessions].map((session) => servers.deleteNodeOf(session, (paths) => random.pick(paths)));
    return deleted.some((path) => path !== undefined) ? nothing : undefined;
  }
}

function nothing(): void {}

function onlyOnce(undo: Undo): Undo {
  let isDone = false;
  return () => {
    if (!isDone) undo();
    isDone = true;
  };
}
