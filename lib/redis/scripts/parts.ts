/**
 * Lua parts that the scripts are made of. A part may use the locals of the parts before it.
 *
 * All scripts have KEYS[1], the sorted set of sessions by their end, and KEYS[2], the hash of the server. Times are the
 * server's, in milliseconds. Channels are not keys, so they need not be declared.
 */

/** The clock, the sessions, and the identity of the server. `INFO` costs 2 us, the rest 2 us. */
export const CLOCK = `
local SESSIONS, SERVER = KEYS[1], KEYS[2]
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local ticks = math.floor((time[1] * 1000000 + time[2]) / 32)
local info = redis.call('INFO', 'replication')
if not string.find(info, 'role:master', 1, true) then
  return redis.error_reply('READONLY this server is a replica')
end
local _, name = string.find(info, 'master_replid:', 1, true)
local replid = string.sub(info, name + 1, name + 40)
local function isIdentity(text) return string.sub(text or '', 1, 40) == replid end
local function digits(n) return string.format('%.0f', n) end
local function endOf(sid) return tonumber(redis.call('ZSCORE', SESSIONS, sid) or 0) end
local function isAlive(sid) return endOf(sid) > now end
local function channelOf(sid) return string.sub(SESSIONS, 1, -2) .. 'c:' .. sid end
-- The clock makes tokens grow when the last one was evicted, or lost with the database.
local function nextToken(key)
  local last = tonumber(redis.call('SET', key, ticks, 'PX', 86400000, 'GET') or 0)
  if last < ticks then return ticks end
  redis.call('SET', key, last + 1, 'PX', 86400000)
  return last + 1
end
`;

/**
 * The check that scripts begin with, except for JOIN, RENEW and the short way of LEAVE. ARGV[1] is the identity of the
 * server that the caller knows. It is a replication id and a time. A server has another one after a restart, a
 * promotion or the loss of its data. ARGV[2] and ARGV[3] are the caller's session and the number of its connection: a
 * request that an earlier connection left behind must not run any more. `settling` is the time until free keys may be
 * granted.
 */
export const HEAD = `${CLOCK}
local known = redis.call('HMGET', SERVER, 'identity', 'until', ARGV[2])
if not isIdentity(ARGV[1]) or known[1] ~= ARGV[1] then return {'NEWSERVER'} end
local sid = ARGV[2]
if known[3] ~= ARGV[3] or not isAlive(sid) then return {'GONE'} end
local settling = math.max(0, tonumber(known[2]) - now)
-- A server settles for its delay at most. Its clock may have been set back since.
if settling > 0 then settling = math.min(settling, tonumber(redis.call('HGET', SERVER, 'delay') or settling)) end
`;

/**
 * Wait queues. From KEYS[3] on, each has five keys: its holders (a sorted set of entries by token), its waiting entries
 * (a list), its last token, its data (the number of permits, or the leader's value), and whether it is observed.
 *
 * An entry is \`mode|session|number|permits|most|since|label\`. The modes are x (exclusive), w (write), r (read), p
 * (permit) and l (leader). A k follows \`since\` where its process may keep the lease without using it. One message tells
 * a process that an entry of its own was granted.
 */
export const WAIT_QUEUES = `
local function queueAt(place)
  local first = 3 + 5 * (place - 1)
  return {h = KEYS[first], w = KEYS[first + 1], t = KEYS[first + 2], d = KEYS[first + 3], o = KEYS[first + 4]}
end
local function parse(entry)
  return string.match(entry, '^(%l)|([^|]*)|(%d+)|(%d+)|(%d+)|')
end
local function tell(entry, what)
  local _, owner, number = parse(entry)
  redis.call('PUBLISH', channelOf(owner), what .. ' ' .. number)
end
local function publishChange(queue)
  if queue.isObserved == nil then queue.isObserved = redis.call('EXISTS', queue.o) == 1 end
  if queue.isObserved then redis.call('PUBLISH', queue.o, '') end
end
local function isAlone(entry) return not string.find(entry, '^[rp]') end
-- Whether the holder is alive and shares the key with nobody: no entry can be granted then.
local function isTaken(queue)
  local holder = redis.call('ZRANGE', queue.h, 0, 0)[1]
  if not holder or not isAlone(holder) then return false end
  local _, owner = parse(holder)
  queue.takenFor = math.max(0, endOf(owner) - now)
  return queue.takenFor > 0
end
local function isWanted(queue)
  return redis.call('LLEN', queue.w) > 0 and 1 or 0
end
local function remove(queue, entry)
  if redis.call('ZREM', queue.h, entry) == 0 then return false end
  if string.sub(entry, 1, 1) == 'l' then redis.call('DEL', queue.d) end
  publishChange(queue)
  return true
end
-- Removes holders whose session is over. Costs 1 us for each holder.
local function reap(queue)
  local isAny = false
  for _, entry in ipairs(redis.call('ZRANGE', queue.h, 0, -1)) do
    local _, owner = parse(entry)
    if not isAlive(owner) then isAny = remove(queue, entry) end
  end
  return isAny
end
-- Whether the entry may hold beside the present holders. With permits it costs 0.5 us for each holder.
local function fits(queue, entry)
  local mode, _, _, permits, most = parse(entry)
  if mode == 'p' then
    local used = 0
    for _, other in ipairs(redis.call('ZRANGE', queue.h, 0, -1)) do
      local _, _, _, count = parse(other)
      used = used + count
    end
    return used + permits <= tonumber(redis.call('GET', queue.d) or most)
  end
  local first = redis.call('ZRANGE', queue.h, 0, 0)[1]
  return not first or (mode == 'r' and string.sub(first, 1, 1) == 'r')
end
local function grant(queue, entry)
  local token = nextToken(queue.t)
  redis.call('ZADD', queue.h, token, entry)
  publishChange(queue)
  return token
end
-- Grants waiting entries as long as the first fits, and skips those whose session is over. Any fits an empty key.
local function grantTurns(queue, isEmpty)
  local granted, wanted = {}, 1
  while true do
    local entry = redis.call('LINDEX', queue.w, 0)
    if not entry then
      wanted = 0
      break
    end
    local _, owner = parse(entry)
    local isNext = isAlive(owner)
    if isNext and not isEmpty and not fits(queue, entry) then break end
    if isNext then isEmpty = false end
    if isNext then granted[#granted + 1] = {entry, grant(queue, entry)} end
    redis.call('LPOP', queue.w)
    if isNext and isAlone(entry) then
      wanted = isWanted(queue)
      break
    end
  end
  for _, one in ipairs(granted) do
    local _, owner, number = parse(one[1])
    redis.call('PUBLISH', channelOf(owner), 'g ' .. number .. ' ' .. digits(one[2]) .. ' ' .. wanted)
  end
end
-- When a waiting entry should be looked at, if no message comes: at the end of the settling, or of the first session
-- of a holder. Entries further back look later, so that one of them does. -1: no particular time.
local function lookAfter(queue, place)
  if settling > 0 then return settling end
  if queue.takenFor and queue.takenFor > 0 then return queue.takenFor + 1 + 250 * (place - 1) end
  local first = -1
  for _, entry in ipairs(redis.call('ZRANGE', queue.h, 0, 99)) do
    local _, owner = parse(entry)
    local left = endOf(owner) - now + 1
    if first < 0 or left < first then first = left end
  end
  return first < 0 and -1 or math.max(first, 1) + 250 * (place - 1)
end
`;

/** Where an entry stands: \`{'g', token, wanted}\`, \`{'w', lookAfter}\`, or \`{'0'}\`. \`LPOS\` costs 1 us per 100 entries. */
export const POSITIONS = `
local function heldAs(queue, entry)
  local token = redis.call('ZSCORE', queue.h, entry)
  return token and {'g', digits(tonumber(token)), isWanted(queue)}
end
local function positionOf(queue, entry)
  local held = heldAs(queue, entry)
  if held then return held end
  local place = redis.call('LPOS', queue.w, entry)
  return place and {'w', lookAfter(queue, place + 1)} or {'0'}
end
`;

/**
 * Writes that are applied once, however often they are sent. A first request may run after its repetition, so each is
 * looked for. KEYS[4] is the sorted set of the ids of applied writes, by the time until which they are remembered. It has
 * no expiry, so no policy evicts it. Costs 3 us.
 */
export const ONCE = `
-- The time until which an applied write is remembered; false: it was not applied.
local function rememberedUntil(id)
  local time = redis.call('ZSCORE', KEYS[4], id)
  return time and tonumber(time)
end
-- Must come before the changes: a server that has no memory left refuses it, and the write with it.
local function remember(id, ms)
  redis.call('ZADD', KEYS[4], digits(now + ms), id)
  redis.call('ZREMRANGEBYSCORE', KEYS[4], '-inf', now)
end
`;
