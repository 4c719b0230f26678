import { SLOTS, slotOf } from '../client/hash-slot.js';

/**
 * Returns the hash tags of the shards. The first is the base path itself, so that processes with another number of
 * shards find each other there. The slots are divided into as many parts as there are shards, and each part has one: the
 * nodes of a cluster that have equal parts of the slots have equal parts of the shards.
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
