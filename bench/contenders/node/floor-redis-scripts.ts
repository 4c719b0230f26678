/**
 * The bounds of a lock that is made of two scripts, without any lock: two scripts that do nothing, and two with the
 * check that no script of this package may leave out. They use the same client and the same link as this package.
 */
import { randomUUID } from 'node:crypto';
import { createClient } from '../../../lib/redis/client/redis-client.js';
import { RedisLink } from '../../../lib/redis/client/redis-link.js';
import { Script } from '../../../lib/redis/client/script.js';
import type { ScriptCall } from '../../../lib/redis/client/script.js';
import { HEAD } from '../../../lib/redis/scripts/parts.js';
import { JOIN } from '../../../lib/redis/scripts/session-scripts.js';
import { RedisKeys } from '../../../lib/redis/session/redis-keys.js';
import type { OpenContender } from './contender.js';

const OPEN_MS = 10_000;
/** So long that no run needs a renewal. */
const SESSION_MS = 600_000;

/** Two scripts that do nothing, without keys and values. */
export async function openEmpty(address: string): Promise<OpenContender> {
  const link = await linkTo(address);
  return pairOf(link, { script: new Script('EMPTY', 'return 1'), keys: [], values: [] });
}

/** Two scripts that compare the server, the session and the connection, as each grant has to. */
export async function openHead(address: string): Promise<OpenContender> {
  const link = await linkTo(address);
  const { sessions, server } = new RedisKeys('floor');
  const keys = [sessions, server];
  const session = randomUUID();
  const reply = await link.run({ script: JOIN, keys, values: ['', session, SESSION_MS, 0, 1] });
  const [, identity] = reply as [string, string];
  return pairOf(link, { script: new Script('CHECK', `${HEAD}\nreturn 1`), keys, values: [identity, session, 1] });
}

async function linkTo(address: string): Promise<RedisLink> {
  const client = () => createClient({ url: `redis://${address}` }, 'floor', OPEN_MS);
  const link = new RedisLink({ requests: client(), messages: client() }, () => {});
  await link.open(OPEN_MS);
  return link;
}

function pairOf(link: RedisLink, call: ScriptCall): OpenContender {
  const run = () => link.run(call);
  return {
    locker: () => ({ acquire: run, release: run }),
    close: async () => link.close('closed'),
  };
}
