import { now } from '../../async/clock.js';
import { pause } from '../../async/timer.js';
import { LockUnavailableError } from '../../contract/errors.js';

/** Resolves when the server grants free keys. @throws LockUnavailableError when there is no time left; `signal.reason` */
export async function settled(ms: number, key: string | undefined, signal: AbortSignal): Promise<void> {
  const end = now() + ms;
  await pause(ms, signal).catch((reason: unknown) => {
    // The server has answered, so this is not for want of a server.
    if (!(reason instanceof LockUnavailableError)) throw reason;
    const leftMs = Math.max(0, Math.ceil(end - now()));
    const why = `the Redis server is new, or was restarted or promoted, and grants no free key for another ${leftMs} ms`;
    throw new LockUnavailableError(`"${key}": ${why}`, { key });
  });
}
