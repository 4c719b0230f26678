/** Lets everybody in at once: a run that does not find this out has looked at nothing. */
import type { OpenContender } from './contender.js';

export async function open(): Promise<OpenContender> {
  return {
    locker: () => ({ acquire: () => Promise.resolve(), release: () => Promise.resolve() }),
    close: () => Promise.resolve(),
  };
}
