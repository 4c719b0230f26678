import { ContractStage } from './contract-stage.js';
import type { ContractSubject } from './contract-stage.js';

/** One guarantee of the contract, and its check. */
export interface ContractCheck {
  /** The part of the contract that it belongs to. */
  readonly part: string;
  /** The guarantee, in words. */
  readonly title: string;
  /** Rejects with an `AssertionError` when the backend does not keep the guarantee. */
  readonly run: (subject: ContractSubject) => Promise<void>;
}

type Play = (stage: ContractStage) => Promise<void>;

// A limit for a check as a whole. It is long enough for a single slow step to reach its own limit first, and to be
// named in the error.
const STEPS = 3;

/** Returns the checks of one part. Each runs on a stage of its own. */
export function checksOf(part: string, plays: Readonly<Record<string, Play>>): readonly ContractCheck[] {
  return Object.entries(plays).map(([title, play]) => ({
    part,
    title,
    run: async (subject) => {
      const stage = await ContractStage.open(subject);
      try {
        await stage.within(play(stage), 'all that is done here', STEPS);
      } catch (error) {
        // Report the original error: a backend that broke one guarantee may not be able to close either.
        await stage[Symbol.asyncDispose]().catch(() => {});
        throw error;
      }
      await stage[Symbol.asyncDispose]();
    },
  }));
}
