import { ContractStage } from './contract-stage.js';
import type { ContractSubject } from './contract-stage.js';

/** One promise of the contract, and how it is checked. */
export interface ContractCheck {
  /** Which part of the contract it is of. */
  readonly part: string;
  /** The promise, in words. */
  readonly title: string;
  /** Rejects with an `AssertionError` when the backend does not keep it. */
  readonly run: (subject: ContractSubject) => Promise<void>;
}

type Play = (stage: ContractStage) => Promise<void>;

/** The checks of one part; each plays on a stage of its own. */
export function checksOf(part: string, plays: Readonly<Record<string, Play>>): readonly ContractCheck[] {
  return Object.entries(plays).map(([title, play]) => ({
    part,
    title,
    run: async (subject) => {
      const stage = await ContractStage.open(subject);
      try {
        await play(stage);
      } catch (error) {
        // What was found is what is told: a backend that broke one promise may not be able to close either.
        await stage[Symbol.asyncDispose]().catch(() => {});
        throw error;
      }
      await stage[Symbol.asyncDispose]();
    },
  }));
}
