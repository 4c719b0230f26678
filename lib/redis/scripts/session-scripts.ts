import { Script } from '../client/script.js';
import { CLOCK, HEAD, WAIT_QUEUES } from './parts.js';

/**
 * Forgets the sessions that are over. After the server's clock was set back, their ends would lie ahead by the size of that
 * step. No session can end later than the longest timeout from now, and a server settles for its delay at most: times
 * beyond that are lowered. A living session believes for its own timeout from its last renewal, which was before now.
 * Processes of an earlier version record their delay, which is their timeout as a rule, and no timeout.
 */
const FORGET = `
local function forgetEnded()
  for _, ended in ipairs(redis.call('ZRANGEBYSCORE', SESSIONS, '-inf', now)) do redis.call('HDEL', SERVER, ended) end
  redis.call('ZREMRANGEBYSCORE', SESSIONS, '-inf', now)
  local times = redis.call('HMGET', SERVER, 'ttl', 'delay', 'until')
  local ttl, delay, calm = times[1], times[2], tonumber(times[3] or 0)
  local last = ttl and digits(now + math.max(ttl, delay or 0))
  for _, late in ipairs(last and redis.call('ZRANGEBYSCORE', SESSIONS, '(' .. last, '+inf') or {}) do
    redis.call('ZADD', SESSIONS, last, late)
  end
  -- The time of a start is known to a second.
  local settled = delay and now + delay + 1000
  if settled and calm > settled then redis.call('HSET', SERVER, 'until', digits(settled)) end
end
`;

/**
 * Begins a session. ARGV: the identity of the server that the caller knew before, or ''; session id; session timeout;
 * time that a new server must settle; number of shards; the session that the caller has given up, or ''; '1' for an
 * observer. Costs about 8 us. Refused as `{'SHARDS', number}` while sessions with another number of shards live.
 *
 * An observer is a command of an operator: it writes down neither its delay nor its number of shards. Its delay counts
 * only where none is on record.
 *
 * The session that was given up ends here: its requests may still be on their way, and its leases are lost.
 *
 * A server that was promoted or restarted has another replication id than the one on record. Its sessions are over, and
 * it settles: some of its data may be older than leases that are still held. So does a server without a record that has
 * run for less than that time, that was once a replica, or that had a record before. A server also changes its id when
 * the first replica joins it: it is the same process then, and was no replica. A later session whose delay is longer makes
 * a server that still settles do so for that time. So does the first one that is no observer's, even if the delay of an
 * observer is over by then. Returns `{'JOINED', identity, settling, now}`.
 */
export const JOIN = new Script(
  'JOIN',
  `${CLOCK}${FORGET}
local before, sid, timeout, delay = ARGV[1], ARGV[2], tonumber(ARGV[3]), tonumber(ARGV[4])
local isObserver = ARGV[7] == '1'
forgetEnded()
local known = redis.call('HMGET', SERVER, 'identity', 'until', 'delay', 'run', 'shards', 'ttl', 'since')
redis.call('ZREM', SESSIONS, ARGV[6])
redis.call('HDEL', SERVER, ARGV[6])
local shards = known[5] or ARGV[5]
if shards ~= ARGV[5] and redis.call('ZCARD', SESSIONS) > 0 then return {'SHARDS', shards} end
local identity, calm = known[1], tonumber(known[2] or 0)
if isObserver and known[3] then delay = 0 end
local longest = math.max(delay, tonumber(known[3] or 0))
-- The clock may have been set back since.
local since = math.min(tonumber(known[7] or now), now + 1000)
if not isIdentity(identity or '') then
  local wasReplica = string.find(string.match(info, 'master_replid2:(%w+)') or '', '[^0]')
  local process = redis.call('INFO', 'server')
  local run = string.match(process, 'run_id:(%w+)')
  if wasReplica or known[4] ~= run then
    since = now
    if not identity and before == '' and not wasReplica then
      -- Negative when the clock was set back.
      local uptime = tonumber(string.match(process, 'uptime_in_seconds:(-?%d+)'))
      if uptime >= 0 then since = now - (uptime - 1) * 1000 end
    end
    calm = longest > 0 and since + longest or 0
    redis.call('DEL', SESSIONS, SERVER)
  end
  identity = replid .. digits(ticks)
  redis.call('HSET', SERVER, 'identity', identity, 'run', run)
end
if longest > 0 and (calm > now or not known[3]) and since + longest > calm then calm = since + longest end
local ttl = math.max(timeout, longest, tonumber(known[6] or 0))
redis.call('HSET', SERVER, 'until', digits(calm), 'since', digits(since), 'ttl', digits(ttl))
if not isObserver or known[3] then redis.call('HSET', SERVER, 'delay', digits(longest)) end
if not isObserver then redis.call('HSET', SERVER, 'shards', ARGV[5]) end
redis.call('ZADD', SESSIONS, digits(now + timeout), sid)
redis.call('HSET', SERVER, sid, '1')
return {'JOINED', identity, math.max(0, calm - now), digits(now)}
`,
);

/**
 * Prolongs the session if it is not over, and sends it a message that proves its subscription. ARGV: identity, session
 * id, number of the connection, session timeout. Costs about 7 us. Returns `{'ALIVE', subscribers, now}`.
 *
 * `forgetEnded` runs before ZADD on purpose. A server without memory refuses the first write of a script only if it
 * needs memory. ZREMRANGEBYSCORE needs none, and after it all writes are allowed.
 */
export const RENEW = new Script(
  'RENEW',
  `${CLOCK}${FORGET}
local known = redis.call('HMGET', SERVER, 'identity', ARGV[2])
if not isIdentity(ARGV[1]) or known[1] ~= ARGV[1] then return {'NEWSERVER'} end
forgetEnded()
local sid, link = ARGV[2], tonumber(ARGV[3])
if not isAlive(sid) or tonumber(known[2] or 0) > link then return {'GONE'} end
redis.call('ZADD', SESSIONS, digits(now + ARGV[4]), sid)
if known[2] ~= ARGV[3] then redis.call('HSET', SERVER, sid, ARGV[3]) end
return {'ALIVE', redis.call('PUBLISH', channelOf(sid), 'b'), digits(now)}
`,
);

/** Ends the session. ARGV: identity, session id, number of the connection. Its entries have left before. Costs 5 us. */
export const BYE = new Script(
  'BYE',
  `${HEAD}
redis.call('ZREM', SESSIONS, sid)
redis.call('HDEL', SERVER, sid)
return {'LEFT'}
`,
);

/**
 * Writes down what the caller held on the server's predecessor, while this server still settles. ARGV: identity, session
 * id, number of the connection, then for each wait queue: a token, the former entry, the new one, and what the caller has
 * published, as `=value` or ''. A former entry that is on record is replaced at any time; a writer's may have become a
 * reader's since. An older token that excludes the new entry is stale: it was released, or taken away by force, and the
 * server does not know. Its process is told in case it does not know either. A value of a leader may be stale as well.
 * Costs 4 us, and 1 us for each holder. Returns 1 or 0 for each.
 */
export const ADOPT = new Script(
  'ADOPT',
  `${HEAD}${WAIT_QUEUES}
local function adopt(queue, token, former, entry, published)
  local function isOnRecord(text) return tonumber(redis.call('ZSCORE', queue.h, text) or 0) == token end
  local isKnown = isOnRecord(former) or isOnRecord('r' .. string.sub(former, 2))
  if settling == 0 and not isKnown and not redis.call('ZSCORE', queue.h, entry) then return 0 end
  local mode, stale = string.sub(entry, 1, 1), {}
  local holders = redis.call('ZRANGE', queue.h, 0, -1, 'WITHSCORES')
  for place = 1, #holders, 2 do
    local other, score = holders[place], tonumber(holders[place + 1])
    local isShared = string.sub(other, 1, 1) == mode and (mode == 'r' or mode == 'p')
    if score > token and not isShared then return 0 end
    if score == token or (score < token and not isShared) then stale[#stale + 1] = {other, score} end
  end
  for _, one in ipairs(stale) do
    redis.call('ZREM', queue.h, one[1])
    if one[2] < token then tell(one[1], 'x') end
  end
  redis.call('ZADD', queue.h, digits(token), entry)
  local last = math.max(token, tonumber(redis.call('GET', queue.t) or 0))
  redis.call('SET', queue.t, digits(last), 'PX', 86400000)
  if mode == 'l' then redis.call('DEL', queue.d) end
  if published ~= '' then redis.call('SET', queue.d, string.sub(published, 2)) end
  publishChange(queue)
  return 1
end
local answers = {'ADOPTED'}
for place = 1, (#ARGV - 3) / 4 do
  local first = 4 * place
  local token, former, entry, published = unpack(ARGV, first, first + 3)
  answers[place + 1] = adopt(queueAt(place), tonumber(token), former, entry, published)
end
return answers
`,
);
