/**
 * The bounds of a lock that is made of two scripts: two with the check that no script of this package may leave out, and
 * the two scripts of its lock without leases and a service around them. They use the same client and the same link as
 * this package.
 */
import { randomUUID } from 'node:crypto';
import { createClient } from '../../../lib/redis/client/redis-client.js';
import { RedisLink } from '../../../lib/redis/client/redis-link.js';
import { Script } from '../../../lib/redis/client/script.js';
import { ACQUIRE, LEAVE } from '../../../lib/redis/scripts/lock-scripts.js';
import { HEAD } from '../../../lib/redis/scripts/parts.js';
import { JOIN } from '../../../lib/redis/scripts/session-scripts.js';
import { entryText } from '../../../lib/redis/session/entry.js';
import { RedisKeys } from '../../../lib/redis/session/redis-keys.js';
import type { Locker, OpenContender } from './contender.js';

const OPEN_MS = 10_000;
/** So long that no run needs a renewal. */
const SESSION_MS = 600_000;

/** Two scripts that compare the server, the session and the connection, as each grant has to. */
export async function openHead(address: string): Promise<OpenContender> {
  const { link, keys, head } = await joined(address);
  const { sessions, server } = keys;
  const call = { script: new Script('CHECK', `${HEAD}\nreturn 1`), keys: [sessions, server], values: head };
  const run = () => link.run(call);
  return { locker: () => ({ acquire: run, release: run }), close: async () => link.close('closed') };
}

/** The scripts of this package's lock, and the message of a hand-over. */
export async function openLock(address: string): Promise<OpenContender> {
  const { link, keys, session, head } = await joined(address);
  const turns = new Map<string, () => void>();
  await link.subscribe(keys.channel(session), (message) => {
    const [what, number = ''] = message.split(' ');
    if (what === 'g') turns.get(number)?.();
  });
  let numbers = 0;
  const locker = (key: string): Locker<string> => {
    const all = [keys.sessions, keys.server, ...keys.queue('lock', key)];
    return {
      async acquire() {
        const number = ++numbers;
        const entry = entryText({
          mode: 'exclusive',
          session,
          number,
          permits: 1,
          most: 1,
          since: 0,
          label: undefined,
        });
        // The message may be faster than the answer: they have a connection each.
        const turn = new Promise<void>((resolve) => turns.set(String(number), resolve));
        const reply = await link.run({ script: ACQUIRE, keys: all, values: [...head, '1', '0', entry] });
        // A number is the token of a key that was free.
        if (typeof reply !== 'number' && (reply as [string, [string]])[1][0] !== 'g') await turn;
        turns.delete(String(number));
        return entry;
      },
      release: (entry) => link.run({ script: LEAVE, keys: all, values: [...head, entry] }),
    };
  };
  return { locker, close: async () => link.close('closed') };
}

/** A session that is long enough for a run, and the values that scripts begin with. */
async function joined(address: string) {
  const link = await linkTo(address);
  const keys = new RedisKeys('floor');
  const session = randomUUID();
  const reply = await link.run({
    script: JOIN,
    keys: [keys.sessions, keys.server],
    values: ['', session, SESSION_MS, 0, 1, ''],
  });
  const [, identity] = reply as [string, string];
  return { link, keys, session, head: [identity, session, 1] as const };
}

async function linkTo(address: string): Promise<RedisLink> {
  const client = () => createClient({ url: `redis://${address}` }, 'floor', OPEN_MS);
  const link = new RedisLink({ requests: client(), messages: client() }, () => {});
  await link.open(OPEN_MS);
  return link;
}
