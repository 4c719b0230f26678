/**
 * The backend on Redis.
 * @module nestjs-distributed-lock/redis
 */

export { redis } from './redis.backend.js';
export type {
  RedisClient,
  RedisClusterClient,
  RedisClusterNode,
  RedisOptions,
  RedisSentinel,
  RedisSentinels,
} from './redis.options.js';
