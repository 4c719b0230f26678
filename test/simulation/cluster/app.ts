import type { Random } from '../../robustness/random.js';
import type { Site } from '../instance/built-ins.js';
import type { RunningProgram } from './program.js';
import type { Broke } from './uncaught.js';

/** One run of an application's process, on the application's machine. */
export interface Incarnation {
  readonly name: string;
  readonly site: Site;
  readonly sessions: Set<bigint>;
  program: RunningProgram | undefined;
  state: 'starting' | 'running' | 'finished' | 'closed' | 'killed';
}

/** The machine of an application, on which one process runs after another. */
export class App {
  readonly name: string;
  readonly incarnations: Incarnation[] = [];
  readonly random: Random;
  readonly #makeSite: (name: string, number: number) => Site;
  readonly #start: (incarnation: Incarnation) => Promise<RunningProgram>;
  readonly #broke: Broke;

  constructor(
    name: string,
    random: Random,
    makeSite: (name: string, number: number) => Site,
    start: (incarnation: Incarnation) => Promise<RunningProgram>,
    broke: Broke,
  ) {
    this.name = name;
    this.random = random;
    this.#makeSite = makeSite;
    this.#start = start;
    this.#broke = broke;
  }

  get current(): Incarnation | undefined {
    const last = this.incarnations.at(-1);
    return last?.state === 'killed' ? undefined : last;
  }

  start(): void {
    if (this.current) return;
    const name = `${this.name}.${this.incarnations.length + 1}`;
    const site = this.#makeSite(name, this.incarnations.length + 1);
    const incarnation: Incarnation = { name, site, sessions: new Set(), program: undefined, state: 'starting' };
    this.incarnations.push(incarnation);
    site.process.uncaught = (error) => {
      this.#broke(`uncaught exception in ${name}`, error);
      this.kill(false);
    };
    this.#inTurn(incarnation, 'start', async () => {
      incarnation.program = await this.#start(incarnation);
      incarnation.state = 'running';
    });
  }

  /** Kills the process. With `silently`, its machine is gone as well, and no peer is notified. */
  kill(silently: boolean): void {
    const incarnation = this.current;
    if (!incarnation) return;
    incarnation.state = 'killed';
    incarnation.site.process.kill();
    incarnation.site.network.processDied(incarnation.site.process, silently);
  }

  /** The application begins nothing new, acquires everything once more, and then waits. */
  finish(): void {
    this.#whenStarted('finish', async (incarnation, program) => {
      await program.finish();
      incarnation.state = 'finished';
    });
  }

  close(): void {
    this.#whenStarted('close', async (incarnation, program) => {
      await program.close();
      incarnation.state = 'closed';
    });
  }

  #whenStarted(what: string, act: (incarnation: Incarnation, program: RunningProgram) => Promise<void>): void {
    const incarnation = this.current;
    const program = incarnation?.program;
    if (incarnation && program) this.#inTurn(incarnation, what, () => act(incarnation, program));
  }

  #inTurn(incarnation: Incarnation, what: string, act: () => Promise<void>): void {
    incarnation.site.process.deliver(() => {
      act().catch((error: unknown) => this.#broke(`${incarnation.name} could not ${what}`, error));
    });
  }
}
