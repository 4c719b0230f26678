import { Script } from '../client/script.js';
import { HEAD, ONCE } from './parts.js';

/**
 * Records are hashes of value, version, time and write id. KEYS[3] is the sorted set of all names, KEYS[4] that of
 * applied writes, KEYS[5] and so on are the records.
 */

/** Reads records at one moment. Costs 1 us for each. Returns `{'READ', {value, version, time}, …}`. */
export const READ_RECORDS = new Script(
  'READ_RECORDS',
  `${HEAD}
local answers = {'READ'}
for place = 5, #KEYS do
  answers[#answers + 1] = redis.call('HMGET', KEYS[place], 'v', 'n', 'at')
end
return answers
`,
);

/**
 * Applies all changes or none, and once. ARGV after the head's: write id, the time for which it may be repeated, then
 * for each record its name, its condition ('', 'absent' or a version), its change ('set', 'remove' or 'keep'), its value.
 * Costs 6 us, and 3 us for each record. Returns `{'APPLIED', time, version, …}` or `{'CONFLICT', place}`. A version is ''
 * when the write was applied before, and others have overwritten it since.
 */
export const WRITE_RECORDS = new Script(
  'WRITE_RECORDS',
  `${HEAD}${ONCE}
local id, forMs = ARGV[4], ARGV[5]
local most = #KEYS - 4
local function changeAt(place)
  local first = 6 + 4 * (place - 1)
  return KEYS[4 + place], ARGV[first], ARGV[first + 1], ARGV[first + 2], ARGV[first + 3]
end
local remembered = rememberedUntil(id)
if remembered then
  local answers = {'APPLIED', digits(remembered - forMs)}
  for place = 1, most do
    local key, _, condition, change = changeAt(place)
    if change == 'set' then
      local found = redis.call('HMGET', key, 'n', 'w')
      local version = condition == 'absent' and '0' or condition ~= '' and digits(condition + 1) or ''
      answers[#answers + 1] = found[2] == id and found[1] or version
    end
  end
  return answers
end
for place = 1, most do
  local key, _, condition = changeAt(place)
  if condition ~= '' and condition ~= (redis.call('HGET', key, 'n') or 'absent') then return {'CONFLICT', place} end
end
remember(id, forMs)
local answers = {'APPLIED', digits(now)}
for place = 1, most do
  local key, name, _, change, value = changeAt(place)
  if change == 'set' then
    local version = (redis.call('HGET', key, 'n') or -1) + 1
    redis.call('HSET', key, 'v', value, 'n', digits(version), 'at', digits(now), 'w', id)
    redis.call('ZADD', KEYS[3], 0, name)
    answers[#answers + 1] = digits(version)
  elseif change == 'remove' then
    redis.call('DEL', key)
    redis.call('ZREM', KEYS[3], name)
  end
end
return answers
`,
);

/**
 * Lists the segments directly below a name. ARGV after the head's: the name with a slash. Costs 2 us for each, however
 * many names are below it.
 */
export const LIST_RECORDS = new Script(
  'LIST_RECORDS',
  `${HEAD}
local answers, above, from = {'LISTED'}, ARGV[4], '[' .. ARGV[4]
while true do
  local name = redis.call('ZRANGEBYLEX', KEYS[3], from, '+', 'LIMIT', 0, 1)[1]
  if not name or string.sub(name, 1, #above) ~= above then return answers end
  local rest = string.sub(name, #above + 1)
  local segment = string.match(rest, '^[^/]*')
  answers[#answers + 1] = segment
  -- '0' is the character after the slash: what lies below the segment is skipped.
  from = rest == segment and '(' .. name or '[' .. above .. segment .. '0'
end
`,
);
