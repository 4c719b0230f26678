import { setMaxListeners } from 'node:events';
import { Inject, Injectable, Optional } from '@nestjs/common';
import { CoordinationService } from '../../../lib/coordination/coordination.service.js';
import { LeaderElectionService } from '../../../lib/elections/leader-election.service.js';
import { LockService } from '../../../lib/service/lock.service.js';
import { sharedNow } from '../../robustness/clock.js';
import { Random } from '../../robustness/random.js';
import { runFinalRound } from '../../robustness/traffic/final-round.js';
import { keysOf } from '../../robustness/traffic/orders.js';
import { Jobs } from './decorated/jobs.js';
import { Methods } from './decorated/methods.js';
import { Poller } from './decorated/poller.js';
import type { Desk, Office, Program } from './desk.js';
import type { ProgramName } from './orders.js';
import { PROGRAMS } from './programs.js';
import { Records } from './records.js';
import { Storage } from './storage.js';
import { TRAFFIC_TOOLS } from './tools.js';
import type { TrafficTools } from './tools.js';

/** The whole traffic of one process. */
@Injectable()
export class Traffic {
  readonly #office: Office;

  constructor(
    @Inject(TRAFFIC_TOOLS) tools: TrafficTools,
    @Inject(Records) records: Records,
    @Inject(LockService) locks: LockService,
    @Inject(LeaderElectionService) elections: LeaderElectionService,
    @Inject(CoordinationService) coordination: CoordinationService,
    @Inject(Methods) methods: Methods,
    @Optional() @Inject(Poller) poller?: Poller,
    @Optional() @Inject(Jobs) jobs?: Jobs,
  ) {
    const { process, orders } = tools;
    const register = new Storage(tools, new Random(`${orders.seed}/${process}/storage`));
    const { journal, beliefs, calls } = records;
    this.#office = {
      ...tools,
      locks,
      elections,
      coordination,
      methods,
      poller,
      jobs,
      register,
      journal,
      beliefs,
      calls,
    };
  }

  /** Resolves when the process was ordered to finish and has released everything, and the final round is over. */
  async run(): Promise<void> {
    const { orders, finishing } = this.#office;
    // Each client listens to the signal while it pauses.
    setMaxListeners(0, finishing);
    const clients = Object.entries(orders.programs) as [ProgramName, number][];
    const running = clients.flatMap(([name, count]) =>
      Array.from({ length: count }, (_, place) => this.#runProgram(PROGRAMS[name], this.#desk(`${name}.${place}`))),
    );
    await Promise.all(running);
    if ((orders.programs.locks ?? 0) > 0) await runFinalRound(this.#office, keysOf(orders.locks), orders.finalLimitMs);
  }

  #desk(name: string): Desk {
    const { process, orders } = this.#office;
    const random = new Random(`${orders.seed}/${process}/${name}`);
    return { ...this.#office, name: `${process}/${name}`, random };
  }

  /**
   * Runs a program. An error that it throws is a fault of its own: programs handle everything that a lock may throw.
   */
  async #runProgram(program: Program, desk: Desk): Promise<void> {
    await program(desk).catch((error: unknown) => {
      const text = `${desk.name}: ${String(error instanceof Error ? error.stack : error)}`;
      desk.record({ what: 'fault of the traffic', at: sharedNow(), text });
    });
  }
}
