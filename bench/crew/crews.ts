import type { Contender } from '../contenders/contender.js';
import { Experience } from './experience.js';
import { PROGRAMS } from './programs.js';
import type { ProgramName } from './programs.js';
import { WorkerProcess } from './worker-process.js';

/**
 * The worker processes of all programs. They are reused for the next contender and the next round: sixteen new Java
 * machines would need longer to start than the measurement takes.
 */
export class Crews {
  readonly experience = new Experience();
  readonly #crews = new Map<ProgramName, WorkerProcess[]>();

  /** Returns so many processes of a contender's program. Existing ones come first. */
  take(contender: Contender, count: number): readonly WorkerProcess[] {
    const { program } = contender;
    const crew = this.#crews.get(program) ?? [];
    crew.push(...this.start(contender, Math.max(0, count - crew.length)));
    this.#crews.set(program, crew);
    return crew.slice(0, count);
  }

  /** Starts so many processes for one turn. They are not reused, and the caller ends them. */
  start({ program }: Contender, count: number): readonly WorkerProcess[] {
    return Array.from({ length: count }, () => new WorkerProcess(PROGRAMS[program]()));
  }

  /** Ends the processes of a program, or of all programs. The next ones start fresh. */
  async dismiss(program?: ProgramName): Promise<void> {
    const leaving = program === undefined ? [...this.#crews.keys()] : [program];
    const workers = leaving.flatMap((name) => this.#crews.get(name) ?? []);
    for (const name of leaving) {
      this.#crews.delete(name);
      this.experience.forget(name);
    }
    await Promise.all(workers.map((worker) => worker.end()));
  }
}
