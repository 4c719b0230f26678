import { ClusterNodes } from './client/cluster-nodes.js';
import { SLOTS, slotOf } from './client/hash-slot.js';
import { createClient, createNodeClient } from './client/redis-client.js';
import type { RedisClient } from './client/redis-client.js';
import type { LinkClients } from './client/redis-link.js';
import { serverText } from './redis.options.js';
import type { ResolvedRedisOptions } from './redis.options.js';
import { RedisKeys } from './session/redis-keys.js';
import { RedisSessions } from './session/redis-sessions.js';
import type { OpenClients, SessionSettings } from './session/redis-sessions.js';
import { RedisShards } from './session/redis-shards.js';
import { RedisReport } from './session/session-report.js';

/** The options of a backend, and whether it is that of an operator's command. */
export type RedisBackendOptions = ResolvedRedisOptions & Pick<SessionSettings, 'isObserver'>;

/** The sessions of a backend, and their reports. None of them is opened yet. */
export interface Opened {
  readonly shards: RedisShards;
  readonly reports: readonly RedisReport[];
}

/** Creates the sessions of a backend: one for each shard, with connections of its own. */
export function openShards(options: RedisBackendOptions): Opened {
  const { address, basePath, shards } = options;
  const openerOf = clientsOf(options);
  const settings = { ...options, isReplicated: address.sentinels !== undefined, isCluster: isCluster(options) };
  const warned = new Set<string>();
  const reports: RedisReport[] = [];
  const all: RedisSessions[] = [];
  for (const [shard, tag] of shardTags(basePath, shards).entries()) {
    const about = shards === 1 ? '' : ` (shard ${shard + 1} of ${shards})`;
    const report = new RedisReport(`${serverText(address)}${about}`, warned);
    const open = shard === 0 ? openerOf(tag) : after(() => all[0]?.session(), openerOf(tag));
    reports.push(report);
    all.push(new RedisSessions(new RedisKeys(tag), settings, open, report));
  }
  return { shards: new RedisShards(all), reports };
}

/**
 * Returns the hash tags of the shards. The first is the base path itself, so that processes with another number of
 * shards find each other there. The slots are divided into as many parts as there are shards. Each part has one shard.
 * So nodes of a cluster that have equal parts of the slots have equal parts of the shards.
 */
export function shardTags(basePath: string, shards: number): readonly string[] {
  const partOf = (tag: string) => Math.floor((slotOf(tag) * shards) / SLOTS);
  const tags = [basePath];
  for (let shard = 1; shard < shards; shard++) {
    const part = (partOf(basePath) + shard) % shards;
    let attempt = 0;
    while (partOf(`${basePath}/${shard}.${attempt}`) !== part) attempt++;
    tags.push(`${basePath}/${shard}.${attempt}`);
  }
  return tags;
}

/** Opens connections after the first shard's session has begun: it is checked there how many shards there are. */
function after(first: () => Promise<unknown> | undefined, open: OpenClients): OpenClients {
  let isChecked = false;
  return async (limitMs) => {
    if (!isChecked) await first();
    isChecked = true;
    return open(limitMs);
  };
}

/** Returns the opener of two clients of the server of a shard: for requests, and for messages. */
function clientsOf(options: ResolvedRedisOptions): (tag: string) => OpenClients {
  const { address, basePath } = options;
  const name = (part: string) => `locks:${basePath}:${part}`;
  const both = (create: (name: string) => RedisClient) => ({
    requests: create(name('requests')),
    messages: create(name('messages')),
  });
  if (!isCluster(options))
    return () => inTurns((limitMs, turn) => both((client) => createClient(address, client, limitMs, turn)));
  const nodes = new ClusterNodes(address.cluster ?? [], (node, limitMs) =>
    createNodeClient(address, node, name('nodes'), limitMs),
  );
  return (tag) => async (limitMs) => {
    const node = await nodes.primaryOf(slotOf(tag), limitMs);
    return both((client) => createNodeClient(address, node, client, limitMs));
  };
}

/** Returns an opener that tells how many attempts there were before. */
function inTurns(open: (limitMs: number, turn: number) => LinkClients): OpenClients {
  let turn = 0;
  return (limitMs) => open(limitMs, turn++);
}

function isCluster({ address }: ResolvedRedisOptions): boolean {
  return address.cluster !== undefined;
}
