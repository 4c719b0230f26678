import { Fingerprint } from '../exhaustive/fingerprint.js';
import type { Choices } from '../exhaustive/choices.js';
import { explore } from '../exhaustive/explore.js';
import { ModelProcess } from './model-process.js';
import { copyOf, emptyData, ModelServer, tokensAt } from './model-server.js';
import type { ServerData } from './model-server.js';
import { DOWN_AFTER, RULES, TTL } from './rules.js';
import type { Rules } from './rules.js';

/** The limits of the search. Everything within them is tried. */
export interface Scope {
  readonly processes: number;
  /** Acquisitions of each process. */
  readonly acquisitions: number;
  /** The ticks after which a run ends. */
  readonly ticks: number;
  /** Requests and answers that may take a tick or more. */
  readonly delays: number;
  /** Requests that may be lost before they run. */
  readonly losses: number;
  /** Servers that may be lost one after the other. */
  readonly failures: number;
  /** Scripts that a promoted replica may lack. */
  readonly lostScripts: number;
  readonly faults: readonly ('promotion' | 'restart without data' | 'split')[];
}

/** The result of a search. */
export interface FailOver {
  readonly states: number;
  readonly isComplete: boolean;
  /** The grants in all runs. */
  readonly grants: number;
  /** The failures of servers in all runs. */
  readonly failures: number;
  /** The first violation, with the steps that lead to it. */
  readonly violation: { readonly what: string; readonly steps: readonly string[] } | undefined;
}

const EVERYTHING = { deviations: Infinity, faults: 0, deviationsWithFaults: Infinity };

/** Tries every order of everything within the scope. Ends at the first violation. */
export async function tryFailOvers(scope: Scope, changes: Partial<Rules> = {}): Promise<FailOver> {
  const states = new Set<number>();
  let [grants, failures] = [0, 0];
  let violation: FailOver['violation'];
  const { isComplete } = await explore(
    EVERYTHING,
    async (choices) => {
      const run = new Run(scope, { ...RULES, ...changes });
      run.follow(choices, (state) => states.add(state));
      grants += run.grants;
      failures += run.failures;
      violation ??= run.violation;
    },
    () => violation !== undefined,
  );
  return { states: states.size, isComplete, grants, failures, violation };
}

interface Step {
  /** The text of the step. Only the steps of a violation are written out. */
  readonly name: () => string;
  readonly go: () => void;
}

/** One run from the beginning, along given choices. */
class Run {
  readonly #scope: Scope;
  readonly #rules: Rules;
  readonly #processes: readonly ModelProcess[];
  readonly #servers: (ModelServer | undefined)[];
  readonly #steps: (() => string)[] = [];
  /** The data of the primary before its last scripts, the latest first. */
  #before: ServerData[] = [];
  /** The time since when the first primary is cut off from its replicas, and what they have. */
  #split: { readonly at: number; readonly copies: readonly ServerData[] } | undefined;
  #now = 0;
  #highest = 0;
  #losses = 0;
  #delays = 0;
  grants = 0;
  failures = 0;
  violation: FailOver['violation'];

  constructor(scope: Scope, rules: Rules) {
    this.#scope = scope;
    this.#rules = rules;
    // The first server has settled.
    const data = { ...emptyData(), record: 1 };
    this.#servers = [new ModelServer(1, data, rules)];
    this.#processes = Array.from(
      { length: scope.processes },
      (_, place) => new ModelProcess(place + 1, scope.acquisitions, rules),
    );
    for (const { firstSession } of this.#processes) data.sessions[firstSession] = TTL;
  }

  follow(choices: Choices, met: (state: number) => void): void {
    while (this.#now < this.#scope.ticks && !this.violation) {
      const steps = this.#possible();
      const state = () => {
        const found = this.#fingerprint();
        met(found);
        return found;
      };
      const take = choices.choose(
        steps.map(() => 'order'),
        state,
      );
      if (take === undefined) return;
      const step = steps[take] as Step;
      const at = this.#now;
      this.#steps.push(() => `${at}: ${step.name()}`);
      step.go();
      this.#judge();
    }
  }

  #possible(): readonly Step[] {
    const steps = this.#processes.flatMap((process, place) => this.#stepsOf(process, `P${place + 1}`));
    return [...steps, ...this.#faults(), { name: () => 'a tick', go: () => void this.#now++ }];
  }

  /**
   * A request runs in the tick in which it is sent, or later; its answer comes in the tick in which it runs, or later.
   * Within a tick, only the order of the runs matters.
   */
  #stepsOf(process: ModelProcess, name: string): readonly Step[] {
    const { request, reply, lateAt } = process;
    if (lateAt === this.#now) return [];
    if (reply) return [{ name: () => `${name} gets "${reply.word}"`, go: () => process.take(this.#now) }];
    if (request) return this.#arrivals(process, name, request.kind);
    const sends = process.kinds(this.#now).flatMap((kind) => {
      const send = (then: () => void) => () => {
        process.send(kind, this.#now);
        then();
      };
      return [
        ...this.#arrivals(process, name, kind).map((step) => ({ ...step, go: send(step.go) })),
        ...this.#late({ name: () => `${name} sends ${kind}, which is late`, go: send(() => this.#delay(process)) }),
      ];
    });
    const last = this.#servers.length - 1;
    if (process.server === last) return sends;
    // In a split. A process that has found the promoted server stays there.
    return [...sends, { name: () => `${name} connects to the other server`, go: () => void (process.server = last) }];
  }

  #arrivals(process: ModelProcess, name: string, kind: string): readonly Step[] {
    const run = (isLate: boolean) => () => {
      this.#run(process);
      if (isLate) this.#delay(process);
      else process.take(this.#now);
    };
    const lost = { name: () => `${kind} of ${name} is lost`, go: () => this.#lose(process) };
    return [
      { name: () => `${kind} of ${name} runs, and is answered`, go: run(false) },
      ...this.#late({ name: () => `${kind} of ${name} runs, and its answer is late`, go: run(true) }),
      ...(this.#losses < this.#scope.losses ? [lost] : []),
    ];
  }

  #run(process: ModelProcess): void {
    const [server, { request }] = [this.#servers[process.server], process];
    if (!server || !request) return;
    if (this.#isCutOff(server)) return void (process.reply = { word: 'refused' });
    const before = copyOf(server.data);
    process.reply = server.run(request, this.#now);
    // The sessions of a former server do not count, so a promoted replica may as well have the latest.
    if (isChanged(before, server.data)) this.#before = [before, ...this.#before].slice(0, this.#scope.lostScripts);
    for (const copy of this.#before) copy.sessions = { ...server.data.sessions };
  }

  /** Returns the step, if a message may still be late. */
  #late(step: Step): readonly Step[] {
    return this.#delays < this.#scope.delays ? [step] : [];
  }

  #delay(process: ModelProcess): void {
    this.#delays++;
    process.lateAt = this.#now;
  }

  #lose(process: ModelProcess): void {
    this.#losses++;
    process.lose();
  }

  /** Whether the server has been without its replica for so long that it refuses writes. */
  #isCutOff(server: ModelServer): boolean {
    return this.#split !== undefined && server.id === 1 && this.#now >= this.#split.at + this.#rules.maxLag;
  }

  #faults(): readonly Step[] {
    const { failures, faults } = this.#scope;
    if (this.#split) return this.#servers.length === 1 ? this.#promotions(this.#split.copies, false) : [];
    if (this.failures >= failures) return [];
    const [primary] = this.#servers.filter((server) => server !== undefined);
    const copies = primary ? [primary.data, ...this.#before] : [];
    return [
      ...(faults.includes('promotion') ? this.#promotions(copies, true) : []),
      ...(faults.includes('restart without data')
        ? [{ name: () => 'the server restarts without data', go: () => this.#follows(emptyData(), true) }]
        : []),
      ...(faults.includes('split') && this.#servers.length === 1
        ? [
            {
              name: () => 'the network is split',
              go: () => void (this.#split = { at: this.#now, copies: copies.map(copyOf) }),
            },
          ]
        : []),
    ];
  }

  #promotions(copies: readonly ServerData[], isDead: boolean): readonly Step[] {
    if (this.#split && this.#now < this.#split.at + DOWN_AFTER) return [];
    return copies.map((data, lost) => ({
      name: () => `a replica without the last ${lost} scripts is promoted${isDead ? '' : ', and the primary lives'}`,
      go: () => this.#follows(copyOf(data), isDead),
    }));
  }

  /** Another server takes over. */
  #follows(data: ServerData, isDead: boolean): void {
    this.failures++;
    this.#before = [];
    if (isDead) this.#servers.fill(undefined);
    this.#servers.push(new ModelServer(this.#servers.length + 1, data, this.#rules));
    if (!isDead) return;
    for (const process of this.#processes) {
      // An answer that was on its way still comes.
      if (!process.reply) process.cut();
      process.server = this.#servers.length - 1;
    }
  }

  #judge(): void {
    for (const process of this.#processes) {
      if (!process.takeNewBelief(this.#now)) continue;
      this.grants++;
      const token = process.belief(this.#now) ?? 0;
      if (token <= this.#highest) this.#violated(`token ${token} after ${this.#highest}`);
      this.#highest = Math.max(this.#highest, token);
    }
    const believers = this.#processes.filter((process) => process.belief(this.#now) !== undefined);
    if (believers.length > 1) this.#violated('two processes believe that they hold the key');
  }

  #violated(what: string): void {
    this.violation ??= { what, steps: this.#steps.map((step) => step()) };
  }

  #fingerprint(): number {
    const servers = this.#servers.map((server) => server?.state(this.#now) ?? null);
    const processes = this.#processes.map((process) => process.state(this.#now));
    const highest = this.#rules.clockInTokens ? Math.max(this.#highest, tokensAt(this.#now) - 1) : this.#highest;
    const counts = [this.#now, highest, this.#losses, this.#delays, this.failures];
    const replicas = this.failures < this.#scope.failures ? [this.#before.map(dataOnly), this.#split] : [];
    return new Fingerprint().text(JSON.stringify([servers, processes, counts, replicas])).value;
  }
}

function isChanged(before: ServerData, after: ServerData): boolean {
  const { holder, waiting } = before;
  return (
    holder?.token !== after.holder?.token ||
    holder?.entry !== after.holder?.entry ||
    waiting.join() !== after.waiting.join()
  );
}

/** The data of a promoted replica, without the sessions. */
function dataOnly({ holder, waiting, lastToken }: ServerData): unknown {
  return [holder, waiting, lastToken];
}
