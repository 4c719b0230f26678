import fc from 'fast-check';
import type { TestedServer } from '../servers/tested-server.js';
import { Stage } from '../stage/stage.js';
import { firstDifference, whole } from '../difference.js';
import type { Operation } from './operation.js';
import { operations } from './operations.js';
import { perform } from './perform.js';

export interface Comparison {
  readonly seed: number;
  /** The minimum number of operations. Sequences are generated until it is reached. */
  readonly operations: number;
  /** The longest sequence. */
  readonly longest?: number;
  readonly onProgress?: (done: number) => void;
}

export interface Compared {
  readonly sequences: number;
  readonly operations: number;
  /** The number of transcript lines, all of which were equal. */
  readonly lines: number;
}

const SEQUENCES_AT_ONCE = 10;
const LONGEST = 120;

/**
 * Applies the same random operations to both servers, until enough were done.
 * @throws Error with the shortest sequence found that they answer differently, and its seed
 */
export async function compareAtRandom(
  real: TestedServer,
  tested: TestedServer,
  { seed, operations: least, longest = LONGEST, onProgress }: Comparison,
): Promise<Compared> {
  const done = { sequences: 0, operations: 0, lines: 0 };
  for (let batch = seed; done.operations < least; batch++) {
    const property = fc.asyncProperty(operations(longest), async (sequence) => {
      const difference = await differenceIn(sequence, real, tested);
      done.sequences++;
      done.operations += sequence.length;
      done.lines += difference.lines;
      onProgress?.(done.operations);
      if (difference.text !== undefined) throw new Error(difference.text);
    });
    await fc.assert(property, { seed: batch, numRuns: SEQUENCES_AT_ONCE });
  }
  return done;
}

async function differenceIn(
  sequence: readonly Operation[],
  real: TestedServer,
  tested: TestedServer,
): Promise<{ readonly text: string | undefined; readonly lines: number }> {
  const [expected, actual] = await Promise.all(
    [real, tested].map((server) => Stage.play(server, (stage) => perform(stage, sequence))),
  );
  return { text: firstDifference(whole(expected!), actual!), lines: expected!.length };
}
