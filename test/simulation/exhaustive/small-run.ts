import type { Finding } from '../../robustness/validate/finding.js';
import { Random } from '../../robustness/random.js';
import { App } from '../cluster/app.js';
import type { Incarnation } from '../cluster/app.js';
import { Claims } from '../cluster/claims.js';
import type { Program } from '../cluster/program.js';
import { withUncaught } from '../cluster/uncaught.js';
import type { Site } from '../instance/built-ins.js';
import type { Bundle } from '../instance/bundle.js';
import type { Segment } from '../network/direction.js';
import { Network } from '../network/network.js';
import type { WorldPlan } from '../plan/plan.js';
import type { SimulatedServers, StartServers } from '../servers/simulated-servers.js';
import { ProcessClock } from '../world/process-clock.js';
import { SimProcess } from '../world/sim-process.js';
import { World } from '../world/world.js';
import type { Choices } from './choices.js';
import { faultsOf } from './faults.js';
import { deletionsIn, wordsOf } from './frames.js';
import { Holds } from './holds.js';
import { MessagesUnderWay } from './messages-under-way.js';
import type { ContenderOrders, HoldEntry } from './orders.js';
import type { Scenario } from './scenarios.js';
import { States } from './states.js';
import { Steps } from './steps.js';

/** The code of the servers and of the contenders, ready to run. */
export interface SmallBackend {
  readonly startServers: StartServers;
  readonly program: Bundle<Program<ContenderOrders, HoldEntry>>;
}

/** The results of a run. */
export interface SmallOutcome {
  readonly findings: readonly Finding[];
  readonly granted: number;
  /** Everything that happened, if it was to be kept. */
  readonly story: readonly string[] | undefined;
}

const SESSION_MS = 2_000;
const WORK_MS = 5;
const BEGAN_MS = Date.UTC(2026, 10, 1);
const FIRST_PORT = 2_181;
/** The time limit of a phase. It spans several sessions, so any delay by a fault is over by then. */
const LIMIT_US = 30_000_000;

/** Never splits messages. That would be another choice, and the wire's own tests cover it. */
class Uncut extends Random {
  override chance(): boolean {
    return false;
  }
}

/** Runs a scenario once with the given choices. `met` is called with each state that the run reaches. */
export async function runSmall(
  scenario: Scenario,
  backend: SmallBackend,
  choices: Choices,
  met: (state: number) => void = () => {},
  keep = false,
): Promise<SmallOutcome> {
  return new SmallRun(scenario, backend, choices, met, keep).run();
}

class SmallRun {
  readonly #scenario: Scenario;
  readonly #backend: SmallBackend;
  readonly #choices: Choices;
  readonly #world = new World();
  readonly #messages = new MessagesUnderWay(this.#world);
  readonly #network: Network;
  readonly #states: States;
  readonly #met: (state: number) => void;
  readonly #holds = new Holds((process) => this.#isExcused(process));
  readonly #findings: Finding[] = [];
  readonly #story: string[] | undefined;
  readonly #closed = new Set<bigint>();
  readonly #sessions = new Map<string, bigint>();
  /** The sessions that owned znodes, by path. */
  readonly #owners = new Map<string, bigint>();
  readonly #told = new Map<string, Set<string>>();
  #servers: SimulatedServers | undefined;
  #pids = 100;

  constructor(
    scenario: Scenario,
    backend: SmallBackend,
    choices: Choices,
    met: (state: number) => void,
    keep: boolean,
  ) {
    this.#scenario = scenario;
    this.#backend = backend;
    this.#choices = choices;
    this.#met = met;
    this.#story = keep ? [] : undefined;
    this.#states = new States(this.#messages);
    const delays = { meanUs: 1, slowShare: 0, slowUs: 0 };
    this.#network = new Network(
      this.#messages,
      (label) => new Uncut(label),
      delays,
      (...arrived) => this.#arrived(...arrived),
    );
  }

  async run(): Promise<SmallOutcome> {
    await withUncaught(this.#world, this.#broke, () => this.#phases());
    const findings = [...this.#findings, ...this.#holds.findings];
    return { findings, granted: this.#holds.granted, story: this.#story };
  }

  async #phases(): Promise<void> {
    const servers = (this.#servers = await this.#startServers());
    const claims = new Claims(servers);
    const apps = this.#scenario.processes.map((callers, place) => this.#app(place, callers, servers, claims));
    apps.forEach((app) => app.start());
    await this.#until(() => apps.every((app) => app.current?.program !== undefined), 'start');
    await this.#explore(apps, servers, claims);
    if (this.#choices.isOver) return;
    this.#judgeEnd(apps);
    await this.#leftNothing(servers, false);
    apps.forEach((app) => app.close());
    await this.#until(() => apps.every((app) => !app.current || app.current.state === 'closed'), 'close');
    await this.#leftNothing(servers, true);
    this.#findings.push(...claims.findings);
  }

  /** From the moment when all are connected until all have had their turn, the next event is a choice. */
  async #explore(apps: readonly App[], servers: SimulatedServers, claims: Claims): Promise<void> {
    const stage = { world: this.#world, network: this.#network, servers, apps };
    const faults = faultsOf(this.#scenario, stage, {
      closing: (name) => this.#closing(name, claims),
      died: (name) => this.#holds.died(name),
    });
    const steps = new Steps({
      world: this.#world,
      messages: this.#messages,
      choices: this.#choices,
      faults,
      states: this.#states,
      reached: () => this.#reached(),
      tell: (text) => this.#tell(text),
    });
    apps.forEach((app) => app.finish());
    const isDone = () => apps.every((app) => !app.current || app.current.state === 'finished');
    await this.#world.run(this.#world.now + LIMIT_US, () => isDone() || this.#findings.length > 0 || steps.go());
    if (!isDone() && !this.#choices.isOver && this.#findings.length === 0) {
      const waiting = apps.filter((app) => app.current && app.current.state !== 'finished').map(({ name }) => name);
      this.#found('liveness', `${waiting.join(' and ')} did not get the key`);
    }
  }

  #judgeEnd(apps: readonly App[]): void {
    const left = this.#holds.text;
    if (left !== '' && apps.some((app) => app.current)) this.#found('outcomes', `somebody still believes: ${left}`);
    for (const [path, told] of this.#told) {
      if (told.size > this.#scenario.wakes) {
        this.#found('wake-ups', `${[...told].join(' and ')} were woken when ${path} was deleted`);
      }
    }
  }

  /** @param alsoSessions whether sessions count as leftovers */
  async #leftNothing(servers: SimulatedServers, alsoSessions: boolean): Promise<void> {
    const left = () => servers.leftovers(alsoSessions).filter((what) => alsoSessions || !DIRECTORY_WATCH.test(what));
    await this.#world.run(this.#world.now + 3 * SESSION_MS * 1_000, () => left().length === 0 || this.#deliver());
    if (left().length > 0) this.#found('leftovers', left().join(', '));
  }

  async #until(isSo: () => boolean, what: string): Promise<void> {
    const isOver = () => isSo() || this.#findings.length > 0;
    await this.#world.run(this.#world.now + LIMIT_US, () => isOver() || this.#deliver());
    if (!isOver()) this.#found('liveness', `not everybody could ${what}`);
  }

  /** Delivers all messages in the order in which they were sent. */
  #deliver(): false {
    while (this.#world.nextAt > this.#world.now && this.#messages.enabled().length > 0) this.#messages.arrive(0);
    return false;
  }

  #reached(): void {
    if (this.#states.takeMadeNodes()) {
      for (const [path, session] of this.#servers?.owners() ?? []) this.#owners.set(path, session);
    }
    this.#met(this.#states.seen(this.#holds.text));
  }

  #arrived(from: string, to: string, segment: Segment): void {
    this.#states.arrived(this.#world.now, from, to, segment);
    const isRequest = /^\d/.test(to);
    if (segment.kind === 'bytes' && !isRequest) {
      for (const path of deletionsIn(segment.bytes)) this.#woken(to, path);
    }
    if (this.#story) {
      const words = segment.kind === 'bytes' ? wordsOf(segment.bytes, isRequest) : segment.kind;
      this.#tell(`${from} > ${to}: ${words}`);
    }
  }

  /** An owner that watches its own znode is no waiter. */
  #woken(host: string, path: string): void {
    if (this.#owners.get(path) === this.#sessions.get(host)) return;
    let told = this.#told.get(path);
    if (!told) this.#told.set(path, (told = new Set()));
    told.add(host);
  }

  async #startServers(): Promise<SimulatedServers> {
    let ports = FIRST_PORT;
    const site = this.#site('servers', 'servers', new ProcessClock(1, 1_000, BEGAN_MS), () => ports++);
    let servers: SimulatedServers | undefined;
    const recorder = {
      note: (_now: number, who: string, text: string) => {
        this.#states.committed(text);
        this.#tell(`${who}: ${text}`);
      },
    };
    site.process.deliver(() => {
      this.#backend.startServers(site, worldOf(this.#scenario), recorder).then(
        (started) => (servers = started),
        (error: unknown) => this.#broke('servers could not start', error),
      );
    });
    await this.#until(() => servers !== undefined, 'start servers');
    if (!servers) throw new Error(`the servers did not start: ${JSON.stringify(this.#findings)}`);
    return servers;
  }

  #app(place: number, callers: ContenderOrders['callers'], servers: SimulatedServers, claims: Claims): App {
    const name = `app-${place + 1}`;
    const makeSite = (process: string) =>
      this.#site(process, name, new ProcessClock(1, 10_000 * place, BEGAN_MS), () => this.#network.nextPort());
    const start = ({ site }: Incarnation) => {
      const { startProgram } = this.#backend.program.instantiate(site);
      const { connectString } = servers;
      const orders = {
        connectString,
        sessionTimeoutMs: SESSION_MS,
        localLine: this.#scenario.localLine,
        workMs: WORK_MS,
        callers,
      };
      return startProgram({
        process: name,
        orders,
        record: (entry) => {
          this.#holds.told(name, entry);
          this.#tell(`${name}: ${JSON.stringify(entry)}`);
        },
        told: () => {},
        claimed: (session, leftMs) => {
          this.#sessions.set(name, session);
          claims.claimed(name, session, leftMs, this.#world.now / 1_000);
        },
      });
    };
    return new App(name, new Random(`faults/${name}`), makeSite, start, this.#broke);
  }

  #site(process: string, host: string, clock: ProcessClock, nextPort: () => number): Site {
    return {
      world: this.#world,
      network: this.#network,
      process: new SimProcess(this.#world, process, clock, new Random(`process/${process}`), 0),
      host,
      pid: this.#pids++,
      nextPort,
      say: (text) => this.#tell(`${process} says: ${text}`),
    };
  }

  /**
   * Returns the session of a process that is about to be closed from outside. The process cannot be notified in time.
   */
  #closing(name: string, claims: Claims): bigint | undefined {
    const session = this.#sessions.get(name);
    if (session === undefined || this.#closed.has(session)) return undefined;
    this.#closed.add(session);
    claims.closedOnPurpose(session);
    return session;
  }

  #isExcused(name: string): boolean {
    const session = this.#sessions.get(name);
    return session !== undefined && this.#closed.has(session);
  }

  #found(check: string, message: string): void {
    this.#findings.push({ check, message, records: [] });
  }

  readonly #broke = (what: string, error: unknown): void => {
    this.#found('processes', `${what}: ${error instanceof Error ? (error.stack ?? String(error)) : String(error)}`);
  };

  #tell(text: string): void {
    this.#story?.push(`${(this.#world.now / 1_000).toFixed(3).padStart(12)} ${text}`);
  }
}

/**
 * A session keeps watching the directory of a lock that it has acquired several times in a row: docs/recipes/mutex.md.
 */
const DIRECTORY_WATCH = /^a watch on \S*\/[^/_]+ of /;

function worldOf({ servers, processes }: Scenario): WorldPlan {
  return {
    servers,
    apps: processes.length,
    sessionTimeoutMs: SESSION_MS,
    serverTimeoutsMs: Array.from({ length: servers }, () => SESSION_MS),
    tickTimeMs: SESSION_MS / 4,
    // Containers are removed only when a choice says so.
    containerCheckIntervalMs: 600_000,
    link: { meanUs: 1, slowShare: 0, slowUs: 0 },
    peerDelayMs: [0, 0],
    electionMs: [5, 5],
    syncLimitMs: [SESSION_MS, SESSION_MS],
    expiryDelayMs: [0, 0],
    callbackUs: 0,
    clockRates: [],
    wallSkewsMs: [],
  };
}
