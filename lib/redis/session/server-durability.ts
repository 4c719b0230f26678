import { RefusedError } from '../client/redis-error.js';
import type { RedisLink } from '../client/redis-link.js';
import { parseInfo } from './server-check.js';

/** Whether applied writes survive the failure of a server, and the settings with which fewer of them are lost. */
export interface Durability {
  readonly records: 'durable' | 'may be lost';
  readonly advice: readonly string[];
}

/** The answer before a server has been asked. */
export const UNKNOWN_DURABILITY: Durability = { records: 'may be lost', advice: [] };

const ON_DISK = 'set appendonly to yes and appendfsync to always, so that an answered write is on disk';
const UNREADABLE = 'the server refuses CONFIG GET, so the present settings are not known';
const ON_REPLICA =
  'set min-replicas-to-write to 1, so that a primary that has lost its replicas takes no writes which a promoted ' +
  'replica does not have';

/**
 * Reads from a server's settings whether it can forget applied writes. Costs two requests at each connection.
 * @param isReplicated whether the server is known to have replicas, even if none is connected
 * @throws LinkLostError
 */
export async function durabilityOf(link: RedisLink, isReplicated: boolean): Promise<Durability> {
  const [text, settings] = await Promise.all([link.ask('INFO'), diskSettings(link)]);
  const info = parseInfo(String(text));
  const wasReplica = /[^0]/.test(info.get('master_replid2') ?? '');
  const hasReplicas = isReplicated || wasReplica || Number(info.get('connected_slaves') ?? 0) > 0;
  const isOnDisk = settings?.get('appendonly') === 'yes' && settings.get('appendfsync') === 'always';
  // The server tells this number only when `min-replicas-to-write` is set.
  const isGuarded = info.has('min_slaves_good_slaves');
  const advice = [
    ...(isOnDisk ? [] : [settings ? ON_DISK : `${ON_DISK} (${UNREADABLE})`]),
    ...(hasReplicas && !isGuarded ? [ON_REPLICA] : []),
  ];
  // A promoted replica may lack the last writes, whatever the settings.
  return { records: isOnDisk && !hasReplicas ? 'durable' : 'may be lost', advice };
}

/** The settings of the append-only file; `undefined` where the server does not tell them. */
async function diskSettings(link: RedisLink): Promise<ReadonlyMap<string, string> | undefined> {
  try {
    const words = (await link.ask('CONFIG', 'GET', 'append*')) as readonly string[];
    return new Map(words.flatMap((name, place) => (place % 2 === 0 ? [[name, words[place + 1] ?? '']] : [])));
  } catch (error) {
    if (error instanceof RefusedError) return undefined;
    throw error;
  }
}
