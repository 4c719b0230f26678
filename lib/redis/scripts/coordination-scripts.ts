import { Script } from '../client/script.js';
import { HEAD, ONCE } from './parts.js';

/** Reads a value. KEYS[3] is its hash. Costs 1 us. Returns `{'CELL', data, version, revision}`. */
export const READ_CELL = new Script(
  'READ_CELL',
  `${HEAD}
return {'CELL', unpack(redis.call('HMGET', KEYS[3], 'v', 'n', 'rev'))}
`,
);

/**
 * Writes or removes a value once, and announces it. KEYS[4] is the sorted set of applied writes. ARGV after the head's:
 * write id, the time for which it may be repeated, condition ('', 'absent' or a version), 'set' or 'remove', data. Costs
 * 8 us. Returns `{'APPLIED', version}` or `{'CONFLICT'}`. The version is '' when the write was applied before, and others
 * have overwritten it since.
 */
export const WRITE_CELL = new Script(
  'WRITE_CELL',
  `${HEAD}${ONCE}
local id, condition, change = ARGV[4], ARGV[6], ARGV[7]
local found = redis.call('HMGET', KEYS[3], 'n', 'w')
if rememberedUntil(id) then
  local version = condition == 'absent' and '0' or condition ~= '' and digits(condition + 1) or ''
  return {'APPLIED', found[2] == id and found[1] or version}
end
if condition ~= '' and condition ~= (found[1] or 'absent') then return {'CONFLICT'} end
remember(id, ARGV[5])
local version = digits((found[1] or -1) + 1)
if change == 'set' then
  local revision = digits(time[1] * 1000000 + time[2])
  redis.call('HSET', KEYS[3], 'v', ARGV[8], 'n', version, 'rev', revision, 'w', id)
else
  redis.call('DEL', KEYS[3])
end
redis.call('PUBLISH', KEYS[3], '')
return {'APPLIED', version}
`,
);

/**
 * A queue of items: KEYS[3] its ids in order, KEYS[4] their payloads, KEYS[5] their takers, KEYS[6] the last token. A
 * taker is \`session|number\`.
 */

/**
 * Puts items, all or none, and announces them. ARGV after the head's: '1' if it may have run before, id of the put, most
 * items or -1, then the payloads. Costs 3 us, and 2 us for each. Returns `{'PUT'}`, `{'FULL'}`, or `{'UNKNOWN'}`.
 */
export const PUT = new Script(
  'PUT',
  `${HEAD}
local again, id, most = ARGV[4] == '1', ARGV[5], tonumber(ARGV[6])
if again then return {redis.call('HEXISTS', KEYS[4], id .. ':1') == 1 and 'PUT' or 'UNKNOWN'} end
local count = #ARGV - 6
if most >= 0 and redis.call('ZCARD', KEYS[3]) + count > most then return {'FULL'} end
local last = tonumber(redis.call('ZRANGE', KEYS[3], -1, -1, 'WITHSCORES')[2] or 0)
for place = 1, count do
  redis.call('ZADD', KEYS[3], digits(last + place), id .. ':' .. place)
  redis.call('HSET', KEYS[4], id .. ':' .. place, ARGV[6 + place])
end
redis.call('PUBLISH', KEYS[3], '')
return {'PUT'}
`,
);

/**
 * Takes the first items that have no living taker. ARGV after the head's: '1' if it may have run before, 'own' to return
 * only what an earlier run has taken, the taker's number, most items. A run that was repeated returns what it took before
 * and nothing else: an earlier item may have become free since. Costs 4 us, and 1 us for each item that is passed or
 * taken; a repeated run, for each item that anybody has taken. Returns `{'TAKEN', token, id, payload, …}`, or
 * `{'NONE', ms}` with the time after which a taker may be over.
 */
export const TAKE = new Script(
  'TAKE',
  `${HEAD}
local again, taker, most = ARGV[4], sid .. '|' .. ARGV[5], tonumber(ARGV[6])
if settling > 0 then return {'NONE', settling} end
local taken, first = {}, -1
local function isFree(other)
  local left = other and endOf(string.match(other, '^[^|]*')) - now or 0
  if left > 0 and (first < 0 or left < first) then first = left end
  return left <= 0
end
local function collectOwn()
  local takers, own = redis.call('HGETALL', KEYS[5]), {}
  for place = 1, #takers, 2 do
    local position = takers[place + 1] == taker and redis.call('ZSCORE', KEYS[3], takers[place])
    if position then own[#own + 1] = {tonumber(position), takers[place]} end
  end
  table.sort(own, function(one, other) return one[1] < other[1] end)
  for place = 1, math.min(most, #own) do taken[place] = own[place][2] end
end
local function collectFree()
  local from = 0
  while #taken < most do
    local ids = redis.call('ZRANGE', KEYS[3], from, from + 99)
    if #ids == 0 then break end
    for _, id in ipairs(ids) do
      if #taken < most and isFree(redis.call('HGET', KEYS[5], id)) then taken[#taken + 1] = id end
    end
    from = from + 100
  end
end
if again ~= '0' then collectOwn() end
if #taken == 0 and again ~= 'own' then collectFree() end
if #taken == 0 then return {'NONE', first < 0 and -1 or first + 1} end
local token = digits(math.max(tonumber(redis.call('GET', KEYS[6]) or 0) + 1, ticks))
redis.call('SET', KEYS[6], token, 'PX', 86400000)
local answers = {'TAKEN', token}
for _, id in ipairs(taken) do
  redis.call('HSET', KEYS[5], id, taker)
  answers[#answers + 1] = id
  answers[#answers + 1] = redis.call('HGET', KEYS[4], id)
end
return answers
`,
);

/**
 * Removes a taken item, or puts it back in its place, and announces that. ARGV after the head's: '1' if it may have run
 * before, the taker's number, id, 'ack' or 'back'. Costs 5 us. Returns `{'DONE'}`, or `{'LOST'}` when another taker may
 * have it.
 */
export const SETTLE = new Script(
  'SETTLE',
  `${HEAD}
local again, taker, id = ARGV[4] == '1', sid .. '|' .. ARGV[5], ARGV[6]
if redis.call('HGET', KEYS[5], id) ~= taker then
  -- While the session lives nobody else can have removed it.
  local isDone = again and not redis.call('ZSCORE', KEYS[3], id)
  return {isDone and 'DONE' or 'LOST'}
end
redis.call('HDEL', KEYS[5], id)
if ARGV[7] == 'ack' then
  redis.call('ZREM', KEYS[3], id)
  redis.call('HDEL', KEYS[4], id)
end
redis.call('PUBLISH', KEYS[3], '')
return {'DONE'}
`,
);

/** Counts the items of a queue, taken ones included. Returns `{'SIZE', count}`. */
export const SIZE = new Script('SIZE', `${HEAD}\nreturn {'SIZE', redis.call('ZCARD', KEYS[3])}\n`);

/** A double barrier: KEYS[3] is a hash of members, \`session|number\`, each 'waiting' or 'inside'. */
const MEMBERS = `
local member = sid .. '|' .. ARGV[4]
local inside, waiting, first = {}, {}, -1
local all = redis.call('HGETALL', KEYS[3])
for place = 1, #all, 2 do
  local left = endOf(string.match(all[place], '^[^|]*')) - now
  if left <= 0 then redis.call('HDEL', KEYS[3], all[place])
  else
    local list = all[place + 1] == 'inside' and inside or waiting
    list[#list + 1] = all[place]
    if first < 0 or left < first then first = left end
  end
end
`;

/**
 * Adds a member, and lets all in when enough wait or others are inside. ARGV after the head's: the member's number,
 * count. Costs 4 us, and 2 us for each member. Returns `{'MEMBER', state, ms}` with the time after which a member may be
 * over.
 */
export const ENTER = new Script(
  'ENTER',
  `${HEAD}${MEMBERS}
local state = redis.call('HGET', KEYS[3], member)
if not state then
  state = 'waiting'
  waiting[#waiting + 1] = member
  redis.call('HSET', KEYS[3], member, state)
end
if state == 'waiting' and (#inside > 0 or #waiting >= tonumber(ARGV[5])) then
  for _, one in ipairs(waiting) do redis.call('HSET', KEYS[3], one, 'inside') end
  redis.call('PUBLISH', KEYS[3], '')
  state = 'inside'
end
return {'MEMBER', state, first < 0 and -1 or first + 1}
`,
);

/**
 * Removes a member. ARGV after the head's: the member's number, '1' to remove it also if it is inside. Costs 4 us, and 2
 * us for each member. Returns `{'MEMBER', state}`, with 'inside' when it was not removed.
 */
export const EXIT = new Script(
  'EXIT',
  `${HEAD}${MEMBERS}
if ARGV[5] ~= '1' and redis.call('HGET', KEYS[3], member) == 'inside' then return {'MEMBER', 'inside'} end
if redis.call('HDEL', KEYS[3], member) == 1 then redis.call('PUBLISH', KEYS[3], '') end
return {'MEMBER', 'gone'}
`,
);

/**
 * Lists the members inside. ARGV after the head's: any number, the identity of the server that the members have entered
 * on. Returns `{'INSIDE', ms, member, …}`, or `{'SETTLING', ms}`: another server settles, and does not know them.
 */
export const INSIDE = new Script(
  'INSIDE',
  `${HEAD}
if settling > 0 and ARGV[5] ~= ARGV[1] then return {'SETTLING', settling} end
${MEMBERS}
return {'INSIDE', first < 0 and -1 or first + 1, unpack(inside)}
`,
);
