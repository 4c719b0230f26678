import { ADOPT } from '../scripts/session-scripts.js';
import type { Move, RedisSession } from './redis-session.js';

const MOST_AT_ONCE = 50;

/**
 * Writes down on a new server what this process holds by its session on the former one. A hold keeps its former
 * deadline until the server has answered, and is lost when the server does not know it. Never rejects: a server that
 * refuses is asked again. Holds without an answer are lost at that deadline, or adopted by the session after this one.
 */
export async function adopt(former: RedisSession, session: RedisSession): Promise<void> {
  const moves = former.movesTo(session);
  const batches: Promise<void>[] = [];
  for (let first = 0; first < moves.length; first += MOST_AT_ONCE) {
    batches.push(adoptBatch(moves.slice(first, first + MOST_AT_ONCE), session));
  }
  await Promise.all(batches).catch(() => {});
}

async function adoptBatch(moves: readonly Move[], session: RedisSession): Promise<void> {
  const keys = moves.flatMap(({ queue }) => queue);
  const values = moves.flatMap(({ token, former, entry, published }) => [
    token,
    former,
    entry,
    published === undefined ? '' : `=${published}`,
  ]);
  let answers: readonly unknown[] | undefined;
  await session.persistently(async () => {
    [, ...answers] = await session.run(ADOPT, keys, values);
  });
  if (answers) for (const [place, move] of moves.entries()) move.done(answers[place] === 1);
}
