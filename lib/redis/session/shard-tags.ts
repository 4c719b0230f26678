import { SLOTS, slotOf } from '../client/hash-slot.js';

/**
 * Returns the hash tags of the shards. The first is the base path itself, so that processes with another number of
 * shards find each other there. The slots of the others follow it at even distances: the nodes of a cluster that
 * have equal parts of the slots have equal parts of the shards.
 */
export function shardTags(basePath: string, shards: number): readonly string[] {
  const width = SLOTS / shards;
  const first = slotOf(basePath);
  const tags = [basePath];
  for (let shard = 1; shard < shards; shard++) {
    const isInPlace = (tag: string) => Math.floor(((slotOf(tag) - first + SLOTS) % SLOTS) / width) === shard;
    let attempt = 0;
    while (!isInPlace(`${basePath}/${shard}.${attempt}`)) attempt++;
    tags.push(`${basePath}/${shard}.${attempt}`);
  }
  return tags;
}
