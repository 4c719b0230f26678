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

// However many steps a check has: one of them that takes its time is told by itself, before this is over.
const STEPS = 3;

/** The checks of one part; each plays on a stage of its own. */
export function checksOf(part: string, plays: Readonly<Record<string, Play>>): readonly ContractCheck[] {
  return Object.entries(plays).map(([title, play]) => ({
    part,
    title,
    run: async (subject) => {
      const stage = await ContractStage.open(subject);
      try {
        await stage.within(play(stage), 'all that is done here', STEPS);
      } catch (error) {
        // What was found is what is told: a backend that broke one promise may not be able to close either.
        await stage[Symbol.asyncDispose]().catch(() => {});
        throw error;
      }
      await stage[Symbol.asyncDispose]();
    },
  }));
}
