import { describe, expect, it } from 'vitest';
import type { BackendVitals } from '../../../lib/contract/survey.js';
import type { RedisSessions } from '../../../lib/redis/session/redis-sessions.js';
import { RedisShards } from '../../../lib/redis/session/redis-shards.js';

const shards = (...all: Partial<BackendVitals>[]) =>
  new RedisShards(all.map((vitals) => ({ vitals }) as RedisSessions)).vitals;

describe('the numbers of several shards', () => {
  const near = { sessionId: 'near', marginMs: 2_000 };
  const far = { sessionId: 'far', marginMs: 9_000 };
  const none = { sessionId: undefined, marginMs: undefined };

  it.each([
    ['of the least margin', [far, near], near],
    ['with a session, if another has none', [none, far], far],
    ['with a session, if a later one has none', [far, none, near], near],
    ['that is the first, if none has a session', [none, none], none],
  ])('are those of the shard %s', (_which, all, expected) => {
    expect(shards(...all)).toEqual(expected);
  });
});
