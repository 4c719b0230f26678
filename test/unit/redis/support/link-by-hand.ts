import { deferred } from '../../../../lib/async/deferred.js';
import type { Deferred } from '../../../../lib/async/deferred.js';
import type { RedisLink } from '../../../../lib/redis/client/redis-link.js';
import type { ScriptCall } from '../../../../lib/redis/client/script.js';
import type { RedisSession } from '../../../../lib/redis/session/redis-session.js';

/** A request that a test answers. */
export interface Asked {
  readonly script: string;
  readonly answer: Deferred<unknown>;
}

/** Lets the requests of a session go over a new link. Returns them, in order. */
export function linkByHand(session: RedisSession): readonly Asked[] {
  const asked: Asked[] = [];
  const run = ({ script }: ScriptCall) => {
    const answer = deferred<unknown>();
    asked.push({ script: script.name, answer });
    return answer.promise;
  };
  session.linkedBy({ run } as unknown as RedisLink);
  return asked;
}
