import { Bundle } from '../instance/bundle.js';
import type * as Program from '../instance/servers.js';
import type { FaultPlan, Range, WorldPlan } from '../plan/plan.js';
import type { Site } from '../instance/built-ins.js';
import type { Recorder } from '../cluster/recorder.js';
import type { MadeZnode } from '../model/contenders.js';
import { Znodes } from '../model/znodes.js';
import { LastingFaults } from './lasting-faults.js';
import type { SimulatedServers, WakeUp } from './simulated-servers.js';

type Member = Program.EmbeddedEnsemble['servers'][number];
type FaultOp = Parameters<Member['loseReply']>[0]['op'];

/** Faults that must not overlap: undoing one of the second group heals all faults of a server. */
const FAULTS_APART: readonly (readonly FaultPlan['kind'][])[] = [
  ['freeze', 'cut-off'],
  ['refuse', 'lost-quorum'],
];

/** The embedded ZooKeeper ensemble, in a simulated process of its own. */
export class ZooKeeperServers implements SimulatedServers {
  readonly #site: Site;
  readonly #program: Program.Servers;
  readonly #znodes: Znodes;
  readonly #lasting = new LastingFaults();
  readonly #wakeUps: ReadonlyMap<string, WakeUp>;
  /** The active faults of those that must not be healed together. */
  readonly #going: FaultPlan['kind'][] = [];

  private constructor(site: Site, program: Program.Servers, znodes: Znodes, wakeUps: ReadonlyMap<string, WakeUp>) {
    this.#site = site;
    this.#program = program;
    this.#znodes = znodes;
    this.#wakeUps = wakeUps;
  }

  static async start(
    bundle: Bundle<typeof Program>,
    site: Site,
    plan: WorldPlan,
    recorder: Pick<Recorder, 'note'>,
  ): Promise<ZooKeeperServers> {
    const { startServers } = bundle.instantiate(site);
    const draw =
      ([least, most]: Range) =>
      () =>
        site.process.random.int(least, most);
    const options = {
      tickTimeMs: plan.tickTimeMs,
      minSessionTimeoutMs: Math.min(...plan.serverTimeoutsMs, 2 * plan.tickTimeMs),
      maxSessionTimeoutMs: plan.sessionTimeoutMs,
      longestSessionsMs: plan.serverTimeoutsMs,
      containerCheckIntervalMs: plan.containerCheckIntervalMs,
      peerDelayMs: draw(plan.peerDelayMs),
      electionMs: draw(plan.electionMs),
      syncLimitMs: draw(plan.syncLimitMs),
      expiryDelayMs: draw(plan.expiryDelayMs),
    };
    const znodes = new Znodes();
    const wakeUps = new Map<string, WakeUp>();
    // A session that moved may have a half-open connection to its former server, which notifies it again.
    const told = (path: string, sessions: readonly bigint[]) =>
      wakeUps.set(path, {
        path,
        sessions: new Set([...(wakeUps.get(path)?.sessions ?? []), ...sessions]),
        lastAt: site.world.now / 1_000,
      });
    const committed = ({ moment, changes }: Program.Transaction) => {
      znodes.committed(
        moment.zxid,
        site.world.now / 1_000,
        changes.map(({ change }) => change),
      );
      const what = changes.map(({ change }) => `${change.type} ${change.path}`).join(', ');
      recorder.note(
        site.world.now,
        'servers',
        `commits ${moment.zxid.toString(16)}: ${what}`,
        changes[0]?.change.type ?? 'nothing',
      );
    };
    const program = await startServers(plan.servers, options, { committed, told });
    return new ZooKeeperServers(site, program, znodes, wakeUps);
  }

  get made(): readonly MadeZnode[] {
    return this.#znodes.made;
  }

  get wakeUps(): readonly WakeUp[] {
    return [...this.#wakeUps.values()];
  }

  get connectString(): string {
    return this.#ensemble.connectString;
  }

  get ports(): readonly number[] {
    return this.#ensemble.servers.map(({ port }) => port);
  }

  break(fault: FaultPlan): (() => void) | undefined {
    const others = FAULTS_APART.find((kinds) => kinds.includes(fault.kind));
    if (!others) return this.#break(fault);
    // The end of one fault would end the other as well, at a time that no plan has chosen.
    if (FAULTS_APART.some((kinds) => kinds !== others && kinds.some((kind) => this.#going.includes(kind))))
      return undefined;
    const undo = this.#break(fault);
    if (!undo) return undefined;
    this.#going.push(fault.kind);
    return () => {
      this.#going.splice(this.#going.indexOf(fault.kind), 1);
      undo();
    };
  }

  #break(fault: FaultPlan): (() => void) | undefined {
    switch (fault.kind) {
      case 'server-kill':
      case 'server-power-off':
        return this.#kill(this.#member(fault), fault.kind === 'server-power-off');
      case 'freeze':
        return this.#during(fault, 'freeze', 'thaw');
      case 'cut-off':
        return this.#during(fault, 'cutOff', 'rejoin');
      case 'refuse':
        return this.#during(fault, 'refuse', 'heal');
      case 'leader-change':
        return this.#kill(this.#member({ server: 'leader' }), false);
      case 'lost-quorum':
        this.#inProcess(() => void this.#ensemble.loseQuorum());
        return () => this.#inProcess(() => void this.#ensemble.restore());
      case 'data-gone':
        this.#inProcess(() => this.#program.loseData());
        this.#znodes.lost(this.#site.world.now / 1_000);
        return () => this.#inProcess(() => void this.#ensemble.restore());
      case 'lag':
        return this.#lag(this.#member(fault), fault.ms ?? 0);
      case 'lost-reply':
      case 'lost-request':
      case 'failed-request':
        return this.#plan(this.#member(fault), fault);
      case 'reap':
        this.#inProcess(() => this.#ensemble.reap());
        return () => {};
      default:
        return undefined;
    }
  }

  heal(): void {
    this.#inProcess(() => void this.#ensemble.restore());
  }

  earliestEndMs(session: bigint, toldMs = Infinity): number | undefined {
    const found = this.#session(session);
    if (!found) return undefined;
    const { earliestEndMs, firstTimeoutMs, timeoutMs } = found;
    // No client can know of a shorter timeout before it is notified.
    const untoldMs = Math.max(0, Math.min(toldMs, firstTimeoutMs) - timeoutMs);
    // The servers' clock is the true one.
    return Math.min(earliestEndMs - this.#ensemble.nowMs + untoldMs, firstTimeoutMs);
  }

  closeSession(session: bigint): boolean {
    const found = this.#session(session);
    if (found) this.#inProcess(() => found.expire());
    return found !== undefined;
  }

  deleteNodeOf(session: bigint, choose: (paths: readonly string[]) => string): string | undefined {
    const paths = this.#session(session)?.ephemerals ?? [];
    if (paths.length === 0) return undefined;
    const path = choose(paths);
    this.#inProcess(() => {
      if (this.#leader?.znode(path)) this.#program.deleteZnode(path);
    });
    return path;
  }

  owners(): ReadonlyMap<string, bigint> {
    return new Map(this.#sessions.flatMap(({ id, ephemerals }) => ephemerals.map((path) => [path, id] as const)));
  }

  leftovers(alsoSessions: boolean): string[] {
    const sessions = this.#sessions;
    return sessions.flatMap((session) => [
      ...session.ephemerals.map((path) => `the ephemeral ${path} of session ${session.id.toString(16)}`),
      ...session.watches.map((path) => `a watch on ${path} of session ${session.id.toString(16)}`),
      ...(alsoSessions ? [`the session ${session.id.toString(16)}`] : []),
    ]);
  }

  get #ensemble(): Program.EmbeddedEnsemble {
    return this.#program.ensemble;
  }

  get #leader(): Member | undefined {
    return this.#ensemble.leader;
  }

  get #sessions() {
    return this.#ensemble.servers[0]?.sessions() ?? [];
  }

  #session(id: bigint) {
    return this.#sessions.find((session) => session.id === id);
  }

  #member({ server = 0 }: Pick<FaultPlan, 'server'>): Member {
    const { servers, followers } = this.#ensemble;
    const meant = server === 'leader' ? this.#leader : server === 'follower' ? followers[0] : servers[server];
    return meant ?? (servers[0] as Member);
  }

  #kill(member: Member, silently: boolean): () => void {
    // A machine that loses power sends nothing.
    if (silently) for (const connection of this.#site.network.connections(undefined, member.port)) connection.vanish();
    this.#inProcess(() => void member.kill());
    return () =>
      this.#inProcess(() => {
        if (!member.isRunning) void member.restart();
      });
  }

  #during(fault: FaultPlan, begin: 'freeze' | 'cutOff' | 'refuse', end: 'thaw' | 'rejoin' | 'heal'): () => void {
    const member = this.#member(fault);
    return this.#lasting.begin(
      `${begin} ${member.port}`,
      () => this.#inProcess(() => member[begin]()),
      () => this.#inProcess(() => member[end]()),
    );
  }

  #lag(member: Member, ms: number): () => void {
    this.#inProcess(() => member.lag(ms));
    return () => this.#inProcess(() => member.lag(0));
  }

  /** Planned request faults stay planned after the end of the fault. They happen when there is such a request. */
  #plan(member: Member, { kind, op }: FaultPlan): () => void {
    const target = { op: op as FaultOp };
    this.#inProcess(() => {
      if (kind === 'lost-reply') void member.loseReply(target);
      else if (kind === 'lost-request') void member.loseRequest(target);
      else void member.failNext(target);
    });
    return () => {};
  }

  #inProcess(action: () => void): void {
    this.#site.process.deliver(action);
  }
}
