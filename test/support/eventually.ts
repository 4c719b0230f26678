import { setTimeout as pause } from 'node:timers/promises';

const LIMIT_MS = 30_000;
const PAUSE_MS = 10;

/** Calls `question` repeatedly until it returns something, for states that no event announces. */
export async function eventually<T>(question: () => Promise<T | undefined> | T | undefined, what: string): Promise<T> {
  const end = Date.now() + LIMIT_MS;
  for (;;) {
    const answer = await question();
    if (answer !== undefined && answer !== false) return answer;
    if (Date.now() > end) throw new Error(`not within ${LIMIT_MS} ms: ${what}`);
    await pause(PAUSE_MS);
  }
}
