import type { Contender } from '../contenders/contender.js';
import type { ProgramName } from './programs.js';

/**
 * The time that each process of a program has worked with each contender's locks. Work with other locks does not compile
 * the code of these.
 */
export class Experience {
  readonly #workedMs = new Map<ProgramName, Map<string, number[]>>();

  /** Returns the time of the least experienced of the first so many processes. */
  leastMs({ program, module }: Contender, processes: number): number {
    const worked = this.#workedMs.get(program)?.get(module) ?? [];
    return worked.length < processes ? 0 : Math.min(...worked.slice(0, processes));
  }

  /** Adds the time of a turn to the first so many processes. */
  add({ program, module }: Contender, processes: number, ms: number): void {
    const ofProgram = this.#workedMs.get(program) ?? new Map<string, number[]>();
    const worked = ofProgram.get(module) ?? [];
    for (let place = 0; place < processes; place++) worked[place] = (worked[place] ?? 0) + ms;
    this.#workedMs.set(program, ofProgram.set(module, worked));
  }

  /** Forgets the processes of a program, which have ended. */
  forget(program: ProgramName): void {
    this.#workedMs.delete(program);
  }
}
