import type { Fault, Leftover, ProcessEnd } from '../../robustness/model/history.js';
import { Random } from '../../robustness/random.js';
import type { Finding } from '../../robustness/validate/finding.js';
import type { Site } from '../instance/built-ins.js';
import type { Bundle } from '../instance/bundle.js';
import { WITHOUT } from '../../support/shortcuts.js';
import { Network } from '../network/network.js';
import type { Plan } from '../plan/plan.js';
import type { SimulatedServers, StartServers } from '../servers/simulated-servers.js';
import { ProcessClock } from '../world/process-clock.js';
import { SimProcess } from '../world/sim-process.js';
import { World } from '../world/world.js';
import { App } from './app.js';
import type { Incarnation } from './app.js';
import { Claims } from './claims.js';
import { Faults } from './faults.js';
import type { Program } from './program.js';
import { Recorder } from './recorder.js';
import { withUncaught } from './uncaught.js';

/** A backend of the library, with a model of its servers. */
export interface SimulatedBackend<Orders, Entry> {
  readonly startServers: StartServers;
  readonly program: Bundle<Program<Orders, Entry>>;
  /** The category of an entry, without its names and numbers. */
  readonly kindOf: (entry: Entry) => string;
  /** For how long an idle application may keep something on the servers on purpose, in milliseconds. */
  readonly keptMs: (orders: Orders) => number;
  /** Whether a leftover may stay on the servers until the application closes. */
  readonly mayStay: (orders: Orders) => (what: string) => boolean;
}

/** One entry of a history, and the process that recorded it. */
export interface Recorded<Entry> {
  readonly process: string;
  readonly entry: Entry;
}

/** The results of one run. */
export interface Run<Entry> {
  readonly recorded: readonly Recorded<Entry>[];
  readonly servers: Pick<SimulatedServers, 'made' | 'wakeUps'>;
  readonly faults: readonly Fault[];
  readonly ends: readonly ProcessEnd[];
  readonly leftovers: readonly Leftover[];
  readonly warnings: readonly string[];
  /** The findings of the run itself: claims, and failures that no history shows. */
  readonly findings: readonly Finding[];
  readonly simulatedMs: number;
  /** The number of callbacks that ran in all processes. */
  readonly callbacks: number;
  readonly hash: string;
  readonly smallestMarginMs: number;
  /** The number of notes of each kind. */
  readonly kinds: Readonly<Record<string, number>>;
  /** The number of connections that were opened. */
  readonly connections: number;
  /** The sequences of kinds of notes that occurred, as numbers. */
  readonly reached: readonly number[];
  /** Everything that happened, if it was to be kept. */
  readonly lines: readonly string[] | undefined;
}

const WORLD_BEGAN_MS = Date.UTC(2026, 10, 1);
const FIRST_SERVER_PORT = 2_181;
const START_LIMIT_US = 60_000_000;

/** Runs a plan from the first server to the end of the last application. */
export async function simulate<Orders extends object, Entry extends object>(
  plan: Plan<Orders>,
  backend: SimulatedBackend<Orders, Entry>,
  keep = false,
): Promise<Run<Entry>> {
  return new Simulation(plan, backend, keep).run();
}

class Simulation<Orders extends object, Entry extends object> {
  readonly #plan: Plan<Orders>;
  readonly #backend: SimulatedBackend<Orders, Entry>;
  readonly #world = new World();
  readonly #recorder: Recorder;
  readonly #network: Network;
  readonly #recorded: Recorded<Entry>[] = [];
  readonly #warnings: string[] = [];
  readonly #findings: Finding[] = [];
  #pids = 100;

  constructor(plan: Plan<Orders>, backend: SimulatedBackend<Orders, Entry>, keep: boolean) {
    this.#plan = plan;
    this.#backend = backend;
    this.#recorder = new Recorder(keep);
    this.#network = new Network(this.#world, this.#random, plan.world.link, (from, to, segment) =>
      this.#recorder.arrived(
        this.#world.now,
        from,
        to,
        segment.kind,
        segment.kind === 'bytes' ? segment.bytes : undefined,
      ),
    );
  }

  run(): Promise<Run<Entry>> {
    return withUncaught(this.#world, this.#broke, () => this.#phases());
  }

  async #phases(): Promise<Run<Entry>> {
    const { world, seconds, faults: planned } = this.#plan;
    const servers = await this.#startServers();
    const claims = new Claims(servers);
    const apps = Array.from({ length: world.apps }, (_, place) => this.#app(place, servers, claims));
    const stage = { world: this.#world, network: this.#network, servers, apps, claims };
    const faults = new Faults(stage, (kind, text) =>
      this.#recorder.note(this.#world.now, 'fault', text, `fault ${kind}`),
    );
    apps.forEach((app) => app.start());
    faults.plan(planned, this.#world.now);
    await this.#world.run(this.#world.now + seconds * 1_000_000);
    faults.healAll();
    // Applications that are killed now start once more, and stopped processes run again.
    apps.forEach((app) => app.start());
    await this.#until(() => apps.every((app) => app.current?.program !== undefined), 'start');
    apps.forEach((app) => app.finish());
    await this.#until(() => apps.every((app) => app.current?.state === 'finished'), 'finish');
    const idle = await this.#leftovers(servers, 'idle');
    apps.forEach((app) => app.close());
    await this.#until(() => apps.every((app) => app.current?.state === 'closed'), 'close');
    const closed = await this.#leftovers(servers, 'closed');
    return {
      recorded: this.#recorded,
      servers,
      faults: faults.done,
      ends: apps.flatMap((app) => app.incarnations.map(endOf)),
      leftovers: [...idle, ...closed],
      warnings: this.#warnings,
      findings: [...this.#findings, ...claims.findings],
      simulatedMs: this.#world.now / 1_000,
      callbacks: this.#world.callbacks,
      hash: this.#recorder.digest(),
      smallestMarginMs: claims.smallestMarginMs,
      reached: this.#recorder.reached,
      kinds: this.#recorder.kinds,
      connections: this.#network.opened,
      lines: this.#recorder.lines,
    };
  }

  /** The time limit for healing, the end of one session and the last round. Anything that takes longer is stuck. */
  get #patienceUs(): number {
    return (20 * this.#plan.world.sessionTimeoutMs + 120_000) * 1_000;
  }

  async #until(isSo: () => boolean, what: string): Promise<void> {
    await this.#world.run(this.#world.now + this.#patienceUs, isSo);
    if (isSo()) return;
    const message = `after all faults were mended, not every application could ${what}`;
    this.#findings.push({ check: 'liveness', message, records: [] });
  }

  async #leftovers(servers: SimulatedServers, when: Leftover['when']): Promise<Leftover[]> {
    const { world, traffic } = this.#plan;
    const mayStay = when === 'idle' ? this.#backend.mayStay(traffic) : () => false;
    const left = () => servers.leftovers(when === 'closed').filter((what) => !mayStay(what));
    const limitMs = 3 * world.sessionTimeoutMs + 5_000 + this.#backend.keptMs(traffic);
    await this.#world.run(this.#world.now + limitMs * 1_000, () => left().length === 0);
    return left().length === 0 ? [] : [{ when, what: left().join(', ') }];
  }

  async #startServers(): Promise<SimulatedServers> {
    let ports = FIRST_SERVER_PORT;
    const site = this.#site('servers', 'servers', new ProcessClock(1, 1_000, WORLD_BEGAN_MS), () => ports++);
    let servers: SimulatedServers | undefined;
    site.process.deliver(() => {
      this.#backend.startServers(site, this.#plan.world, this.#recorder).then(
        (started) => (servers = started),
        (error: unknown) => this.#broke('servers could not start', error),
      );
    });
    await this.#world.run(START_LIMIT_US, () => servers !== undefined || this.#findings.length > 0);
    if (!servers) throw new Error(`the servers did not start: ${JSON.stringify(this.#findings)}`);
    return servers;
  }

  #app(place: number, servers: SimulatedServers, claims: Claims): App {
    const { clockRates, wallSkewsMs, sessionTimeoutMs } = this.#plan.world;
    const [name, rate] = [`app-${place + 1}`, clockRates[place] ?? 1];
    const makeSite = (process: string, incarnation: number) => {
      const startedAtMs = 1_000 * incarnation + 10_000 * place;
      const clock = new ProcessClock(rate, startedAtMs, WORLD_BEGAN_MS + (wallSkewsMs[place] ?? 0));
      const site = this.#site(process, name, clock, () => this.#network.nextPort());
      return { ...site, env: { [WITHOUT]: this.#plan.without.join() } };
    };
    const start = (incarnation: Incarnation) => {
      const { startProgram } = this.#backend.program.instantiate(incarnation.site);
      const orders = { ...this.#plan.traffic, connectString: servers.connectString, sessionTimeoutMs };
      return startProgram({
        process: incarnation.name,
        orders,
        record: (entry) => this.#record(incarnation, entry),
        told: (session, timeoutMs) => claims.told(session, timeoutMs),
        claimed: (session, leftMs) => {
          incarnation.sessions.add(session);
          claims.claimed(incarnation.name, session, leftMs / rate, this.#world.now / 1_000);
        },
      });
    };
    return new App(name, this.#random(`faults/${name}`), makeSite, start, this.#broke);
  }

  #site(process: string, host: string, clock: ProcessClock, nextPort: () => number): Site {
    const random = this.#random(`process/${process}`);
    return {
      world: this.#world,
      network: this.#network,
      process: new SimProcess(this.#world, process, clock, random, this.#plan.world.callbackUs),
      host,
      pid: this.#pids++,
      nextPort,
      say: (text) => this.#warnings.push(`${process}: ${text}`),
    };
  }

  #record({ name: process, site }: Incarnation, entry: Entry): void {
    this.#recorded.push({ process, entry });
    this.#recorder.note(site.world.now, process, JSON.stringify(entry, withoutStacks), this.#backend.kindOf(entry));
  }

  readonly #broke = (what: string, error: unknown): void => {
    const text = error instanceof Error ? (error.stack ?? String(error)) : String(error);
    this.#recorder.note(this.#world.now, 'error', what, 'error');
    this.#findings.push({ check: 'processes', message: `${what}: ${text}`, records: [] });
  };

  readonly #random = (label: string): Random => new Random(`${this.#plan.seed}/${label}`);
}

/** Removes the stack of an error: its file names and lines depend on how the code was loaded. */
function withoutStacks(_key: string, value: unknown): unknown {
  return typeof value === 'string' ? value.split('\n    at ', 1)[0] : value;
}

function endOf({ name: process, state }: Incarnation): ProcessEnd {
  const end = state === 'killed' ? 'killed by a fault' : state === 'closed' ? 'exited' : 'had to be killed';
  return { process, end, exitCode: end === 'exited' ? 0 : null, output: '' };
}
