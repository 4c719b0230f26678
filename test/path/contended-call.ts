import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';

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
  const caller = fork(join(dir, 'test', 'path', 'caller.js'), { env: { ...process.env, ...env } });
  const [[call]] = await Promise.all([once(caller, 'message'), once(caller, 'exit')]);
  return call as ContendedCall;
}
