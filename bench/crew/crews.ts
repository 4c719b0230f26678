import { PROGRAMS } from './programs.js';
import type { ProgramName } from './programs.js';
import { WorkerProcess } from './worker-process.js';

/**
 * The worker processes of all programs. They are reused for the next contender and the next round: sixteen new Java
 * machines would need longer to start than the measurement takes.
 */
export class Crews {
  readonly #crews = new Map<ProgramName, WorkerProcess[]>();

  /** Returns so many processes of a program. Existing ones come first. */
  take(program: ProgramName, count: number): readonly WorkerProcess[] {
    const crew = this.#crews.get(program) ?? [];
    while (crew.length < count) crew.push(new WorkerProcess(PROGRAMS[program]()));
    this.#crews.set(program, crew);
    return crew.slice(0, count);
  }

  /**
   * Ends the processes of a program, or of all programs. The next ones start fresh, after a failure or for a
   * measurement from the start.
   */
  async dismiss(program?: ProgramName): Promise<void> {
    const leaving = program === undefined ? [...this.#crews.keys()] : [program];
    const workers = leaving.flatMap((name) => this.#crews.get(name) ?? []);
    leaving.forEach((name) => this.#crews.delete(name));
    await Promise.all(workers.map((worker) => worker.end()));
  }
}
