import { PROGRAMS } from './programs.js';
import type { ProgramName } from './programs.js';
import { WorkerProcess } from './worker-process.js';

/**
 * The worker processes of all programs. They stay for the next contender and the next round: sixteen fresh Java
 * machines would be busy with themselves for longer than what is measured takes.
 */
export class Crews {
  readonly #crews = new Map<ProgramName, WorkerProcess[]>();

  /** So many processes of a program; those that are there already first. */
  take(program: ProgramName, count: number): readonly WorkerProcess[] {
    const crew = this.#crews.get(program) ?? [];
    while (crew.length < count) crew.push(new WorkerProcess(PROGRAMS[program]()));
    this.#crews.set(program, crew);
    return crew.slice(0, count);
  }

  /** Ends the processes of a program, or of all: what has failed, or is to be measured from its start, starts anew. */
  async dismiss(program?: ProgramName): Promise<void> {
    const leaving = program === undefined ? [...this.#crews.keys()] : [program];
    const workers = leaving.flatMap((name) => this.#crews.get(name) ?? []);
    leaving.forEach((name) => this.#crews.delete(name));
    await Promise.all(workers.map((worker) => worker.end()));
  }
}
