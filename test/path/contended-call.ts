import { join } from 'node:path';
import { forkProgram } from '../support/child-program.js';

/** The steps of one contended call of a decorated method through the library. */
export interface ContendedCall {
  /**
   * Each function that was entered, as `<file below lib>:<name>`, in order. A function without a name has its line
   * instead.
   */
  readonly steps: readonly string[];
  readonly hopsToMethod: number;
}

/**
 * Makes the call in a separate process.
 * @param dir where the traced library and the programs are
 */
export async function makeContendedCall(
  dir: string,
  env: Readonly<Record<string, string>> = {},
): Promise<ContendedCall> {
  const script = join(dir, 'test', 'path', 'caller.js');
  await using caller = forkProgram<never, ContendedCall>(script, { env: { ...process.env, ...env } });
  const [call] = await Promise.all([caller.next(), caller.ended()]);
  return call;
}
